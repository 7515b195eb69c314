<FeatureCollection xmlns:gml="http://www.opengis.net/gml">
<gml:featureMember><roof gml:id="r1"><outline><gml:Curve><gml:segments><gml:LineStringSegment><gml:posList>0 0 0 1</gml:posList></gml:LineStringSegment><gml:ArcString><gml:posList>0 1 1 2 2 1</gml:posList></gml:ArcString></gml:segments></gml:Curve></outline></roof></gml:featureMember>
</FeatureCollection>
