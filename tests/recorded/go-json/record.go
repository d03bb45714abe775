// Records how encoding/json decodes elements of the networks annotation: `go run record.go > selections.jsonl`.
// tests/it/readers/go_json.rs reads the record and compares our own reader with it.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

// The fields of the element that name a network (k8snetworkplumbingwg/multus-cni pkg/types/types.go).
type selection struct {
	Name       string    `json:"name"`
	Namespace  string    `json:"namespace,omitempty"`
	IPs        []string  `json:"ips,omitempty"`
	Mac        string    `json:"mac,omitempty"`
	Interface  string    `json:"interface,omitempty"`
	Deprecated string    `json:"interfaceRequest,omitempty"`
	Device     string    `json:"deviceID,omitempty"`
}

type line struct {
	Text    string     `json:"text"`
	Refused bool       `json:"refused,omitempty"`
	Element *selection `json:"element,omitempty"`
}

// Spellings of one key: cases, escapes, and letters that fold to ASCII: U+017F to s, U+212A to k. U+0131 and
// U+0130 do not fold to i.
var spellings = map[string][]string{
	"name":      {"name", "Name", "NAME", "nAmE", `n\u0061me`, "name ", "nаme", "nam"},
	"namespace": {"namespace", "Namespace", "NAMESPACE", "nameſpace", `name\u017fpace`, `name\u0073pace`, "namespаce", "name space"},
	"interface": {"interface", "INTERFACE", "ınterface", "İnterface", `inter\u0046ace`},
	"interfaceRequest": {"interfaceRequest", "interfacerequest", "interfaceRequeſt"},
	"mac":      {"mac", "MAC"},
	"ips":      {"ips", "IPS", "ipſ"},
	"deviceID": {"deviceID", "deviceid", "DEVİCEID"},
}

var texts = []string{`"bank"`, `"a"`, `""`, "null", "1", `"\u0062ank"`, `"bank"`, `"b"`, "null", "null"}
var macs = []string{`"02:00:00:00:00:01"`, `"02-00-00-00-00-02"`, `""`, "null", "null", "1"}
var lists = []string{`["10.0.0.1"]`, "null", "[]", `["10.0.0.2","10.0.0.3"]`, `[null]`, `[1]`}

func main() {
	rng := rand.New(rand.NewSource(1))
	keys := []string{"name", "namespace", "namespace", "interface", "interfaceRequest", "mac", "ips", "deviceID"}
	inputs := []string{
		`{"name":"vlan42","namespace":"bank","namespace":null}`,
		`{"name":"vlan42","namespace":null,"namespace":"bank"}`,
		`{"name":"vlan42","nameſpace":"bank"}`,
		`{"name":"vlan42","namespace":"bank","Namespace":""}`,
		`{"name":"vlan42","NAMESPACE":"bank","namespace":"a"}`,
		`{"name":"vlan42","namespace":1,"namespace":"bank"}`,
		`{"name":"vlan42","namespace":"bank","other":"\ud800"}`,
		`{"name":"vlan42","namespace":"bank","\ud800":1}`,
		`{"name":"vlan42","namespace":"bank","other":1e999}`,
		`{"name":"vlan42","namespace":"bank"} `,
		`{"name":"vlan42","namespace":"bank",}`,
		`null`, `[]`, `"a"`, `{}`,
	}
	for len(inputs) < 600 {
		members := []string{`"name":"net"`}
		for i := 0; i < 2+rng.Intn(4); i++ {
			key := keys[rng.Intn(len(keys))]
			spelling := spellings[key][rng.Intn(len(spellings[key]))]
			values := texts
			switch key {
			case "ips":
				values = lists
			case "mac":
				values = macs
			}
			members = append(members, fmt.Sprintf(`"%s":%s`, spelling, values[rng.Intn(len(values))]))
		}
		inputs = append(inputs, "{"+strings.Join(members, ",")+"}")
	}
	for _, text := range inputs {
		var elements []*selection
		out := line{Text: text}
		if json.Unmarshal([]byte("["+text+"]"), &elements) != nil {
			out.Refused = true
		} else {
			out.Element = elements[0]
		}
		encoded, _ := json.Marshal(out)
		fmt.Println(string(encoded))
	}
}
