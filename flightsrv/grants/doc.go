// Package grants reads a policy: which entries a caller may see, and what it may do with them.
//
// A policy is a TOML file of ordered rules. The first rule that matches the user, one of its groups
// and the name of an entry decides, and without one there is no privilege:
//
//	[[rules]]
//	group = "surveyors"
//	name = "parcels/**"
//	privileges = ["read", "sql"]
//	columns = [{ name = "owner", mask = "'***'" }, { name = "tax", allow = false }]
//	filter = "county = 'Wake'"
//
// A rule without a user, a group or a name matches all of them.
package grants
