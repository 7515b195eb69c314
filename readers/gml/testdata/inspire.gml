<?xml version="1.0" encoding="UTF-8"?>
<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:cp="http://inspire.ec.europa.eu/schemas/cp/4.0" xmlns:base="http://inspire.ec.europa.eu/schemas/base/3.3" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/gml/3.2 http://schemas.opengis.net/gml/3.2.1/gml.xsd http://inspire.ec.europa.eu/schemas/cp/4.0 http://inspire.ec.europa.eu/schemas/cp/4.0/CadastralParcels.xsd http://inspire.ec.europa.eu/schemas/base/3.3 http://inspire.ec.europa.eu/schemas/base/3.3/BaseTypes.xsd" gml:id="fc">
  <gml:featureMember>
    <cp:CadastralParcel gml:id="cp.1">
      <cp:areaValue uom="m2">812</cp:areaValue>
      <cp:beginLifespanVersion>2015-03-04T05:06:07+01:00</cp:beginLifespanVersion>
      <cp:endLifespanVersion nilReason="other:unpopulated" xsi:nil="true"/>
      <cp:geometry>
        <gml:Surface gml:id="cp.1.g" srsName="http://www.opengis.net/def/crs/EPSG/0/4258"><gml:patches><gml:PolygonPatch><gml:exterior><gml:Ring><gml:curveMember><gml:Curve gml:id="c1"><gml:segments><gml:LineStringSegment><gml:posList>48.1 11.5 48.2 11.5</gml:posList></gml:LineStringSegment></gml:segments></gml:Curve></gml:curveMember><gml:curveMember><gml:OrientableCurve orientation="-"><gml:baseCurve><gml:LineString><gml:posList>48.1 11.5 48.2 11.6 48.2 11.5</gml:posList></gml:LineString></gml:baseCurve></gml:OrientableCurve></gml:curveMember></gml:Ring></gml:exterior></gml:PolygonPatch></gml:patches></gml:Surface>
      </cp:geometry>
      <cp:inspireId><base:Identifier><base:localId>1</base:localId><base:namespace>DE.X</base:namespace></base:Identifier></cp:inspireId>
      <cp:label>12/3</cp:label>
      <cp:referencePoint><gml:Point gml:id="cp.1.p" srsName="http://www.opengis.net/def/crs/EPSG/0/4258"><gml:pos>48.15 11.52</gml:pos></gml:Point></cp:referencePoint>
      <cp:administrativeUnit xlink:href="#au.1"/>
      <cp:zoning xlink:href="#z.1"/>
      <cp:zoning xlink:href="#z.2"/>
    </cp:CadastralParcel>
  </gml:featureMember>
</gml:FeatureCollection>
