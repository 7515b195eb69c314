<?xml version='1.0' encoding="UTF-8" ?>
<wfs:FeatureCollection xmlns:ms="http://mapserver.gis.umn.edu/mapserver" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://mapserver.gis.umn.edu/mapserver https://town.example/wfs?SERVICE=WFS&amp;VERSION=2.0.0&amp;REQUEST=DescribeFeatureType&amp;TYPENAME=road,place&amp;OUTPUTFORMAT=application%2Fgml%2Bxml%3B%20version%3D3.2 http://www.opengis.net/wfs/2.0 http://schemas.opengis.net/wfs/2.0/wfs.xsd http://www.opengis.net/gml/3.2 http://schemas.opengis.net/gml/3.2.1/gml.xsd" timeStamp="" numberMatched="3" numberReturned="3">
  <wfs:member>
   <wfs:FeatureCollection timeStamp="" numberMatched="2" numberReturned="2">
      <wfs:boundedBy>
      	<gml:Envelope srsName="urn:ogc:def:crs:EPSG::3035"><gml:lowerCorner>3000000 4000000</gml:lowerCorner><gml:upperCorner>3100000 4200000</gml:upperCorner></gml:Envelope>
      </wfs:boundedBy>
    <wfs:member>
      <ms:road gml:id="road.1"><ms:msGeometry><gml:LineString gml:id="road.1.1" srsName="urn:ogc:def:crs:EPSG::3035"><gml:posList srsDimension="2">3000000 4000000 3050000.5 4100000 </gml:posList></gml:LineString></ms:msGeometry><ms:kind>A</ms:kind></ms:road>
    </wfs:member>
    <wfs:member>
      <ms:road gml:id="road.2"><ms:msGeometry><gml:LineString gml:id="road.2.1" srsName="urn:ogc:def:crs:EPSG::3035"><gml:posList srsDimension="2">3050000.5 4100000 3100000 4200000 </gml:posList></gml:LineString></ms:msGeometry><ms:kind>B</ms:kind></ms:road>
    </wfs:member>
   </wfs:FeatureCollection>
  </wfs:member>
  <wfs:member>
   <wfs:FeatureCollection timeStamp="" numberMatched="1" numberReturned="1">
    <wfs:member>
      <ms:place gml:id="place.1"><ms:msGeometry><gml:Point gml:id="place.1.1" srsName="urn:ogc:def:crs:EPSG::3035"><gml:pos>3000000 4000000</gml:pos></gml:Point></ms:msGeometry></ms:place>
    </wfs:member>
   </wfs:FeatureCollection>
  </wfs:member>
</wfs:FeatureCollection>
