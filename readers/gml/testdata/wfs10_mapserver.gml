<?xml version='1.0' encoding="ISO-8859-1" ?>
<wfs:FeatureCollection
   xmlns:ms="http://mapserver.gis.umn.edu/mapserver"
   xmlns:wfs="http://www.opengis.net/wfs"
   xmlns:gml="http://www.opengis.net/gml"
   xmlns:ogc="http://www.opengis.net/ogc">
      <gml:boundedBy>
      	<gml:Box srsName="EPSG:31467">
      		<gml:coordinates>3565000.000000,5933000.000000 3566000.000000,5934000.000000</gml:coordinates>
      	</gml:Box>
      </gml:boundedBy>
    <gml:featureMember>
      <ms:lamps fid="lamps.17">
        <gml:boundedBy>
        	<gml:Box srsName="EPSG:31467">
        		<gml:coordinates>3565100.250000,5933200.750000 3565100.250000,5933200.750000</gml:coordinates>
        	</gml:Box>
        </gml:boundedBy>
        <ms:msGeometry>
        <gml:Point srsName="EPSG:31467">
          <gml:coordinates>3565100.250000,5933200.750000</gml:coordinates>
        </gml:Point>
        </ms:msGeometry>
        <ms:STREET>Große Straße</ms:STREET>
        <ms:HEIGHT>  4.50</ms:HEIGHT>
      </ms:lamps>
    </gml:featureMember>
    <gml:featureMember>
      <ms:lamps fid="lamps.18">
        <ms:msGeometry>
        <gml:Point srsName="EPSG:31467">
          <gml:coordinates>3565900.5,5933800</gml:coordinates>
        </gml:Point>
        </ms:msGeometry>
        <ms:STREET></ms:STREET>
        <ms:HEIGHT>6</ms:HEIGHT>
      </ms:lamps>
    </gml:featureMember>
</wfs:FeatureCollection>
