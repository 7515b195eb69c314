<?xml version="1.0" encoding="UTF-8"?>
<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:gml="http://www.opengis.net/gml" xmlns:town="http://town.example/town" numberOfFeatures="3" timeStamp="2024-05-06T07:08:09.123Z">
  <gml:boundedBy><gml:Envelope srsDimension="2" srsName="urn:x-ogc:def:crs:EPSG:4326"><gml:lowerCorner>53.5 9.9</gml:lowerCorner><gml:upperCorner>53.6 10.1</gml:upperCorner></gml:Envelope></gml:boundedBy>
  <gml:featureMembers>
    <town:stops gml:id="stops.1"><town:geom><gml:Point srsDimension="2" srsName="urn:x-ogc:def:crs:EPSG:6.9:4326"><gml:pos>53.55 9.99</gml:pos></gml:Point></town:geom><town:line>1</town:line><town:line>31</town:line></town:stops>
    <town:stops gml:id="stops.2"><town:geom><gml:Point srsDimension="2" srsName="urn:x-ogc:def:crs:EPSG:6.9:4326"><gml:pos>53.56 10.01</gml:pos></gml:Point></town:geom><town:line>2</town:line></town:stops>
    <town:routes gml:id="routes.1"><town:geom><gml:MultiCurve srsName="urn:x-ogc:def:crs:EPSG:6.9:4326"><gml:curveMember><gml:LineString><gml:posList>53.55 9.99 53.56 10.01</gml:posList></gml:LineString></gml:curveMember></gml:MultiCurve></town:geom><town:length uom="m">1720.5</town:length></town:routes>
  </gml:featureMembers>
</wfs:FeatureCollection>
