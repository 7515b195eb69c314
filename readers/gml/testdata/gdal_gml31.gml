<?xml version="1.0" encoding="utf-8" ?>
<ogr:FeatureCollection
     xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
     xsi:schemaLocation="http://ogr.maptools.org/ gdal_gml31.xsd"
     xmlns:ogr="http://ogr.maptools.org/"
     xmlns:gml="http://www.opengis.net/gml">
  <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>52 9</gml:lowerCorner><gml:upperCorner>53.5 10.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
                                                                                                                                                                       
  <ogr:featureMember>
    <ogr:parks gml:id="parks.0">
      <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>53 10</gml:lowerCorner><gml:upperCorner>53.5 10.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
      <ogr:geometryProperty><gml:Polygon srsName="urn:ogc:def:crs:EPSG::4326"><gml:exterior><gml:LinearRing><gml:posList>53 10 53.0 10.5 53.5 10.5 53 10</gml:posList></gml:LinearRing></gml:exterior><gml:interior><gml:LinearRing><gml:posList>53.1 10.2 53.1 10.3 53.2 10.3 53.1 10.2</gml:posList></gml:LinearRing></gml:interior></gml:Polygon></ogr:geometryProperty>
      <ogr:name>Stadtpark</ogr:name>
      <ogr:area>1615.166</ogr:area>
      <ogr:count>1</ogr:count>
      <ogr:big>12345678901</ogr:big>
      <ogr:open>true</ogr:open>
      <ogr:since>2001-02-03</ogr:since>
      <ogr:seen>2020-01-02T03:04:05Z</ogr:seen>
    </ogr:parks>
  </ogr:featureMember>
  <ogr:featureMember>
    <ogr:parks gml:id="parks.1">
      <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>52 9</gml:lowerCorner><gml:upperCorner>52.5 9.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
      <ogr:geometryProperty><gml:MultiSurface srsName="urn:ogc:def:crs:EPSG::4326"><gml:surfaceMember><gml:Polygon><gml:exterior><gml:LinearRing><gml:posList>52 9 52.0 9.5 52.5 9.5 52 9</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></gml:surfaceMember></gml:MultiSurface></ogr:geometryProperty>
      <ogr:name>Ö &amp; Söhne &lt;x&gt;</ogr:name>
      <ogr:area>720.356</ogr:area>
      <ogr:count>2</ogr:count>
      <ogr:big xsi:nil="true"/>
      <ogr:open>false</ogr:open>
      <ogr:since xsi:nil="true"/>
      <ogr:seen xsi:nil="true"/>
    </ogr:parks>
  </ogr:featureMember>
  <ogr:featureMember>
    <ogr:parks gml:id="parks.2">
      <ogr:name xsi:nil="true"/>
      <ogr:area xsi:nil="true"/>
      <ogr:count xsi:nil="true"/>
      <ogr:big>3</ogr:big>
      <ogr:open xsi:nil="true"/>
      <ogr:since>2020-02-29</ogr:since>
      <ogr:seen>2021-01-02T03:04:05Z</ogr:seen>
    </ogr:parks>
  </ogr:featureMember>
</ogr:FeatureCollection>
