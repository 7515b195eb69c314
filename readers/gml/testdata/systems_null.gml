<?xml version="1.0" encoding="UTF-8"?>
<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">
  <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::25832"><gml:lowerCorner>1 2</gml:lowerCorner><gml:upperCorner>9 9</gml:upperCorner></gml:Envelope></gml:boundedBy>
  <gml:featureMember><f><n>1</n><g><gml:MultiPoint><gml:pointMember><gml:Point srsName="EPSG:31467"><gml:pos>1 2</gml:pos></gml:Point></gml:pointMember><gml:pointMember><gml:Point><gml:pos>3 4</gml:pos></gml:Point></gml:pointMember></gml:MultiPoint></g></f></gml:featureMember>
  <gml:featureMember><f><n>2</n><g><gml:Point><gml:pos>1 2</gml:pos></gml:Point></g><h><gml:Point srsName="EPSG:25832"><gml:pos>3 4</gml:pos></gml:Point></h></f></gml:featureMember>
  <gml:featureMember><f><n>9007199254740993</n><g><gml:Point srsName="EPSG:25833"><gml:pos>1 2</gml:pos></gml:Point></g></f></gml:featureMember>
  <gml:featureMember><f><n>0.5</n><g><gml:Point srsName="EPSG:25832"><gml:pos>5 6</gml:pos></gml:Point></g><h><gml:Point><gml:pos>7 8</gml:pos></gml:Point></h></f></gml:featureMember>
  <gml:featureMember><f><n>x</n><g><gml:Point srsName="EPSG:25833"><gml:pos>1 2</gml:pos></gml:Point></g></f></gml:featureMember>
  <gml:featureMember><f><n>3</n><g><gml:Point><gml:pos>5 x</gml:pos></gml:Point></g></f></gml:featureMember>
</gml:FeatureCollection>
