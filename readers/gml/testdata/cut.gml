<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0"><wfs:member><a><b>1</b></a></wfs:member><wfs:member><a><b>2
