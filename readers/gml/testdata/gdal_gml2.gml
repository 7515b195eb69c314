<?xml version="1.0" encoding="utf-8" ?>
<ogr:FeatureCollection
     xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
     xsi:schemaLocation="http://ogr.maptools.org/ gdal_gml2.xsd"
     xmlns:ogr="http://ogr.maptools.org/"
     xmlns:gml="http://www.opengis.net/gml">
  <gml:boundedBy>
    <gml:Box>
      <gml:coord><gml:X>9</gml:X><gml:Y>52</gml:Y></gml:coord>
      <gml:coord><gml:X>10.5</gml:X><gml:Y>53.5</gml:Y></gml:coord>
    </gml:Box>
  </gml:boundedBy>
                                                                                                                                                         
  <gml:featureMember>
    <ogr:parks fid="parks.0">
      <ogr:geometryProperty><gml:Polygon srsName="EPSG:4326"><gml:outerBoundaryIs><gml:LinearRing><gml:coordinates>10,53 10.5,53.0 10.5,53.5 10,53</gml:coordinates></gml:LinearRing></gml:outerBoundaryIs><gml:innerBoundaryIs><gml:LinearRing><gml:coordinates>10.2,53.1 10.3,53.1 10.3,53.2 10.2,53.1</gml:coordinates></gml:LinearRing></gml:innerBoundaryIs></gml:Polygon></ogr:geometryProperty>
      <ogr:name>Stadtpark</ogr:name>
      <ogr:area>1615.166</ogr:area>
      <ogr:count>1</ogr:count>
      <ogr:big>12345678901</ogr:big>
      <ogr:open>true</ogr:open>
      <ogr:since>2001-02-03</ogr:since>
      <ogr:seen>2020-01-02T03:04:05Z</ogr:seen>
    </ogr:parks>
  </gml:featureMember>
  <gml:featureMember>
    <ogr:parks fid="parks.1">
      <ogr:geometryProperty><gml:MultiPolygon srsName="EPSG:4326"><gml:polygonMember><gml:Polygon><gml:outerBoundaryIs><gml:LinearRing><gml:coordinates>9,52 9.5,52.0 9.5,52.5 9,52</gml:coordinates></gml:LinearRing></gml:outerBoundaryIs></gml:Polygon></gml:polygonMember></gml:MultiPolygon></ogr:geometryProperty>
      <ogr:name>Ö &amp; Söhne &lt;x&gt;</ogr:name>
      <ogr:area>720.356</ogr:area>
      <ogr:count>2</ogr:count>
      <ogr:big xsi:nil="true"/>
      <ogr:open>false</ogr:open>
      <ogr:since xsi:nil="true"/>
      <ogr:seen xsi:nil="true"/>
    </ogr:parks>
  </gml:featureMember>
  <gml:featureMember>
    <ogr:parks fid="parks.2">
      <ogr:name xsi:nil="true"/>
      <ogr:area xsi:nil="true"/>
      <ogr:count xsi:nil="true"/>
      <ogr:big>3</ogr:big>
      <ogr:open xsi:nil="true"/>
      <ogr:since>2020-02-29</ogr:since>
      <ogr:seen>2021-01-02T03:04:05Z</ogr:seen>
    </ogr:parks>
  </gml:featureMember>
</ogr:FeatureCollection>
