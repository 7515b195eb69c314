package crs

import "testing"

func TestParseName(t *testing.T) {
	const berlin = "EPSG:4326 north official 2"
	for _, c := range []struct{ name, want string }{
		{"EPSG:4326", "EPSG:4326 2"},
		{" epsg:4326\n", "EPSG:4326 2"},
		{"EPSG::4326", "EPSG:4326 2"},
		{"urn:ogc:def:crs:EPSG::4326", berlin},
		{"urn:ogc:def:crs:EPSG:6.9:4326", berlin},
		{"urn:ogc:def:crs:EPSG:4326", berlin},
		{"urn:x-ogc:def:crs:EPSG:4326", berlin},
		{"urn:x-ogc:def:crs:EPSG:6.9:4326", berlin},
		{"urn:opengis:def:crs:EPSG::4326", berlin},
		{"urn:EPSG:geographicCRS:4326", berlin},
		{"urn:EPSG:projectedCRS:25832", "EPSG:25832 official 2"},
		{"http://www.opengis.net/def/crs/EPSG/0/4326", berlin},
		{"http://opengis.net/def/crs/EPSG/0/4326", berlin},
		{"https://www.opengis.net/def/crs/EPSG/9.9.1/4326/", berlin},
		{"http://www.opengis.net/gml/srs/epsg.xml#4326", "EPSG:4326 2"},
		{"http://opengis.net/gml/srs/epsg.xml#4326", "EPSG:4326 2"},
		{"urn:ogc:def:crs:EPSG::4979", "EPSG:4979 north official 3"},
		{"urn:ogc:def:crs:EPSG::4978", "EPSG:4978 official 3"},
		{"urn:ogc:def:crs:EPSG::3857", "EPSG:3857 official 2"},
		{"urn:ogc:def:crs:EPSG::2180", "EPSG:2180 north official 2"},
		{"urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::5783", "EPSG:5555 official 3"},
		{"urn:ogc:def:crs,crs:EPSG::4326,crs:EPSG::5773", "EPSG:9707 north official 3"},
		{"http://www.opengis.net/def/crs-compound?1=http://www.opengis.net/def/crs/EPSG/0/25832&2=http://www.opengis.net/def/crs/EPSG/0/5783", "EPSG:5555 official 3"},
		{"urn:ogc:def:crs,crs:EPSG::27700,crs:EPSG::5773", "EPSG:27700+5773 official 3"},
		{"EPSG:25832+5783", "EPSG:5555 3"},
		{"EPSG:25832+EPSG:5783", "EPSG:5555 3"},
		{"urn:ogc:def:crs:OGC:1.3:CRS84", "OGC:CRS84 official 2"},
		{"urn:ogc:def:crs:OGC::crs84", "OGC:CRS84 official 2"},
		{"urn:ogc:def:crs:OGC:2:84", "OGC:CRS84 official 2"},
		{"CRS:84", "OGC:CRS84 2"},
		{"crs84", "OGC:CRS84 2"},
		{"OGC:CRS83", "OGC:CRS83 2"},
		{"ESRI:102003", "ESRI:102003 2"},
		{"EPSG:102100", "ESRI:102100 2"},
		{"EPSG:900913", "EPSG:3857 2"},
		{"urn:ogc:def:crs:IGNF::LAMB93", "IGNF:LAMB93 official 2"},
		{"urn:ogc:def:crs:IAU:2015:30100", "IAU_2015:30100 north official 2"},
		{"urn:adv:crs:ETRS89_UTM32", "EPSG:25832 2"},
		{"urn:adv:crs:DE_DHDN_3GK3", "EPSG:31467 2"},
		{"urn:adv:crs:ETRS89_UTM32*DE_DHHN92_NH", "EPSG:5555 3"},
		{"", ""},
		{"EPSG:", ""},
		{"EPSG:abc", ""},
		{"EPSG:99999", ""},
		{"urn:ogc:def:crs:EPSG::99999", "looks official"},
		{"urn:ogc:def:crs,crs:EPSG::4326,crs:EPSG::4326", "looks official"},
		{"urn:ogc:def:crs:EPSG", "looks official"},
		{"http://www.opengis.net/def/crs/ACME/0/1", "looks official"},
		{"http://www.opengis.net/def/crs-compound?1=a&2=b", "looks official"},
		{"urn:adv:crs:ETRS89_XY", "looks official"},
		{"osgb:BNG", ""},
		{`GEOGCS["WGS 84"]`, ""},
	} {
		n, ok := ParseName(c.name)
		got := ""
		switch {
		case ok:
			got = n.ID.String()
		case LooksOfficial(c.name):
			got = "looks official"
		}
		if n.NorthFirst {
			got += " north"
		}
		if n.Official {
			got += " official"
		}
		if n.Dimensions > 0 {
			got += " " + string(rune('0'+n.Dimensions))
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.name, got, c.want)
		}
	}
}
