package crs

import (
	"net/url"
	"strings"
)

// Name is what the name of a coordinate reference system says.
type Name struct {
	// ID is a system of the registry. That of a compound system without a code of its own has those
	// of its parts, as PROJ writes it: EPSG:25832+7837.
	ID ID
	// NorthFirst reports a name that obliges its file to the order of axes that the authority has,
	// and that this order is north, then east. Of a compound system the horizontal part counts.
	NorthFirst bool
	// Official reports a URN or URL, which obliges to the authority's order. A short name
	// (EPSG:4326) and those of GML 2 (epsg.xml#4326) do not.
	Official bool
	// Dimensions is the number of axes.
	Dimensions int
}

// ParseName reads every form of a name that GDAL and PROJ read, in any case:
//
//	EPSG:3857, ESRI:102100, IGNF:LAMB93, EPSG:25832+7837      as GDAL and PROJ write it
//	urn:ogc:def:crs:EPSG:[6.9]:3857                           OGC 07-092r3; urn:x-ogc and urn:opengis too
//	urn:ogc:def:crs:EPSG:3857                                 the usual misspelling, without a version
//	urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::7837            OGC 07-092r3, compound
//	urn:EPSG:geographicCRS:4326                               GML 3.0; projectedCRS and others too
//	http://www.opengis.net/def/crs/EPSG/0/4326                OGC 09-048r5; https, and without www, too
//	http://www.opengis.net/def/crs-compound?1=…&2=…           OGC 09-048r5
//	http://www.opengis.net/gml/srs/epsg.xml#4326              GML 2
//	CRS84, OGC:CRS84, CRS:84                                  OGC 06-042 Annex B; CRS83 and CRS27 alike
//	urn:adv:crs:ETRS89_UTM32[*DE_DHHN92_NH]                   AdV, the surveying authorities of Germany
//
// A code of EPSG that EPSG does not have and ESRI has is ESRI's. ok is false for anything else, and
// for a code that the registry does not have.
func ParseName(text string) (n Name, ok bool) {
	lower := strings.ToLower(strings.TrimSpace(text))
	if len(lower) > maxNameBytes {
		return Name{}, false
	}
	if part, ok := strings.CutPrefix(lower, "urn:adv:crs:"); ok {
		return advName(part)
	}
	if part, ok := urn(lower); ok {
		return urnName(part)
	}
	if part, ok := opengisPage(lower); ok {
		return pageName(part)
	}
	if part, ok := strings.CutPrefix(lower, "urn:epsg:"); ok {
		kind, code, _ := strings.Cut(part, ":")
		if !strings.HasSuffix(kind, "crs") {
			return Name{}, false
		}
		return official(join(strings.Split("epsg::"+strings.TrimPrefix(code, ":"), ":")))
	}
	return shortName(lower)
}

// maxNameBytes is how long a name may be: two URLs of a compound one, and some more.
const maxNameBytes = 1024

// LooksOfficial reports a text that has the form of an OGC URN or URL, whether ParseName reads it
// or not: a file with one that is not read may have its axes in either order.
func LooksOfficial(text string) bool {
	lower := strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(lower, "urn:") && strings.Contains(lower, "crs") {
		return true
	}
	page, ok := opengisPage(lower)
	return ok && !strings.HasPrefix(page, "gml/")
}

// urn returns a lower-case urn of OGC after "urn:ogc:def:".
func urn(lower string) (rest string, ok bool) {
	for _, prefix := range []string{"urn:ogc:def:", "urn:x-ogc:def:", "urn:opengis:def:"} {
		if rest, ok = strings.CutPrefix(lower, prefix); ok {
			return rest, true
		}
	}
	// urn:opengis:crs:… is what some servers of WFS 1.0 wrote.
	if rest, ok = strings.CutPrefix(lower, "urn:opengis:crs:"); ok {
		return "crs:" + rest, true
	}
	return "", false
}

// opengisPage returns a lower-case URL of opengis.net after the host.
func opengisPage(lower string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(lower, "http://")
	if !ok {
		if rest, ok = strings.CutPrefix(lower, "https://"); !ok {
			return "", false
		}
	}
	return strings.CutPrefix(strings.TrimPrefix(rest, "www."), "opengis.net/")
}

// urnName reads "crs:EPSG:6.9:3857" or "crs,crs:EPSG::25832,crs:EPSG::7837".
func urnName(part string) (Name, bool) {
	if list, ok := strings.CutPrefix(part, "crs,"); ok {
		var members []ID
		for member := range strings.SplitSeq(list, ",") {
			id, ok := join(strings.Split(strings.TrimPrefix(member, "crs:"), ":"))
			if !ok || len(members) == maxMembers || !strings.HasPrefix(member, "crs:") {
				return Name{}, false
			}
			members = append(members, id)
		}
		return compound(members, true)
	}
	part, ok := strings.CutPrefix(part, "crs:")
	if !ok {
		return Name{}, false
	}
	return official(join(strings.Split(part, ":")))
}

// maxMembers is how many parts a compound name may have.
const maxMembers = 2

// pageName reads "def/crs/EPSG/0/4326", "def/crs-compound?1=…&2=…" or "gml/srs/epsg.xml#4326".
func pageName(page string) (Name, bool) {
	if part, ok := strings.CutPrefix(page, "def/crs/"); ok {
		return official(join(strings.Split(strings.TrimSuffix(part, "/"), "/")))
	}
	if part, ok := strings.CutPrefix(page, "gml/srs/"); ok {
		file, code, _ := strings.Cut(part, "#")
		return single(join([]string{strings.TrimSuffix(file, ".xml"), "", code}))
	}
	query, ok := strings.CutPrefix(page, "def/crs-compound?")
	if !ok {
		return Name{}, false
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Name{}, false
	}
	var members []ID
	for _, key := range []string{"1", "2"} {
		member, ok := opengisPage(values.Get(key))
		part, isCRS := strings.CutPrefix(member, "def/crs/")
		id, known := join(strings.Split(part, "/"))
		if !ok || !isCRS || !known {
			return Name{}, false
		}
		members = append(members, id)
	}
	return compound(members, true)
}

// shortName reads "epsg:3857", "epsg:25832+7837", "crs:84" and "crs84".
func shortName(lower string) (Name, bool) {
	authority, code, found := strings.Cut(lower, ":")
	code = strings.TrimPrefix(code, ":") // EPSG::4326
	switch {
	case !found:
		return single(join([]string{"ogc", "", lower}))
	case authority == "crs":
		return single(join([]string{"ogc", "", "crs" + strings.TrimPrefix(code, "crs")}))
	}
	horizontal, vertical, isCompound := strings.Cut(code, "+")
	if !isCompound {
		return single(join([]string{authority, "", code}))
	}
	first, ok1 := join([]string{authority, "", horizontal})
	second, ok2 := join([]string{authority, "", strings.TrimPrefix(vertical, authority+":")})
	if !ok1 || !ok2 {
		return Name{}, false
	}
	return compound([]ID{first, second}, false)
}

// join finds the system of an authority, a version, which may be missing, and a code, in lower
// case.
func join(parts []string) (ID, bool) {
	if len(parts) == 2 { // urn:ogc:def:crs:EPSG:4326
		parts = []string{parts[0], "", parts[1]}
	}
	if len(parts) != 3 {
		return ID{}, false
	}
	authority, code := parts[0], parts[2]
	switch {
	case authority == "ogc" && (code == "84" || code == "83" || code == "27"):
		code = "crs" + code // urn:ogc:def:crs:OGC:2:84 is an old spelling that GDAL reads
	case authority == "crs":
		authority = "ogc"
	case authority == "iau":
		authority = "iau_2015"
	case authority == "epsg":
		code = strings.TrimLeft(code, "0")
		if code == "900913" { // Google's joke, before EPSG gave Web Mercator a number
			code = "3857"
		}
	}
	if s, ok := Lookup(authority, code); ok {
		return s.ID(), true
	}
	if authority == "epsg" {
		if s, ok := Lookup("esri", code); ok {
			return s.ID(), true
		}
	}
	return ID{}, false
}

func single(id ID, ok bool) (Name, bool) {
	if !ok {
		return Name{}, false
	}
	return Name{ID: id, Dimensions: Dimensions(id.Authority, id.Code)}, true
}

func official(id ID, ok bool) (Name, bool) {
	n, ok := single(id, ok)
	n.Official = ok
	n.NorthFirst = ok && NorthFirst(id.Authority, id.Code)
	return n, ok
}

// compound returns a horizontal system with a vertical one: the registered system of both, if there
// is one.
func compound(members []ID, isOfficial bool) (Name, bool) {
	if len(members) != maxMembers {
		return Name{}, false
	}
	horizontal, _ := Lookup(members[0].Authority, members[0].Code)
	vertical, _ := Lookup(members[1].Authority, members[1].Code)
	if vertical.Kind != Vertical || horizontal.Kind != Projected && horizontal.Kind != Geographic {
		return Name{}, false
	}
	n := Name{
		Official: isOfficial, NorthFirst: isOfficial && horizontal.NorthFirst,
		Dimensions: horizontal.Dimensions + 1,
	}
	name := horizontal.Name + " + " + vertical.Name
	for _, i := range byName(name) {
		if s := registry().system(i); s.Kind == Compound && s.Name == name {
			n.ID = s.ID()
			return n, true
		}
	}
	n.ID = ID{horizontal.Authority, horizontal.Code + "+" + vertical.Code}
	return n, horizontal.Authority == vertical.Authority
}

// advCodes are the systems of the AdV's list (GeoInfoDok, "Koordinatenreferenzsysteme") that EPSG
// has. Files that name them have the easting first.
var advCodes = map[string]string{
	"etrs89_utm31": "25831", "etrs89_utm32": "25832", "etrs89_utm33": "25833",
	"de_dhdn_3gk2": "31466", "de_dhdn_3gk3": "31467", "de_dhdn_3gk4": "31468", "de_dhdn_3gk5": "31469",
	"de_42-83_3gk3": "2397", "de_42-83_3gk4": "2398", "de_42-83_3gk5": "2399",
	"de_pd-83_3gk3": "3396", "de_pd-83_3gk4": "3397", "de_rd-83_3gk4": "3398", "de_rd-83_3gk5": "3399",
}

// advHeights are those of heights, which follow the horizontal system after a "*".
var advHeights = map[string]string{
	"de_dhhn12_noh": "7699", "de_dhhn85_noh": "5784", "de_dhhn92_nh": "5783", "de_dhhn2016_nh": "7837",
}

// advName reads "ETRS89_UTM32" and "ETRS89_UTM32*DE_DHHN92_NH".
func advName(part string) (Name, bool) {
	plain, height, isCompound := strings.Cut(part, "*")
	id := ID{"EPSG", advCodes[plain]}
	if !isCompound {
		_, ok := Lookup(id.Authority, id.Code)
		return single(id, ok)
	}
	return compound([]ID{id, {"EPSG", advHeights[height]}}, false)
}
