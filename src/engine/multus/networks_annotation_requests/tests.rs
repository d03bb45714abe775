use super::*;
use crate::multus::parse_within_limit;

fn requests(element: &str) -> Option<Requests<'static>> {
    let text: &'static str = format!("[{{\"name\":\"a\",{element}}}]").leak();
    parse_within_limit(text).unwrap().items.remove(0).requests.map(|r| *r)
}

#[test]
fn reads_requests() {
    assert_eq!(requests(r#""namespace":"b","interface":"x","bandwidth":{}"#), None);
    assert_eq!(requests(r#""ips":null,"mac":"","cni-args":null"#), None);
    let asked = requests(
        r#""IPs":["10.0.0.1/24","fd00::1"],"mac":"02:00:00:00:00:01","infiniband-guid":"02-00-00-00-00-00-00-01",
           "deviceID":"0000:01:00.1","default-route":["10.0.0.254"],"gateway":["10.0.0.1"]"#,
    )
    .unwrap();
    assert_eq!(asked.ips, ["10.0.0.1/24", "fd00::1"]);
    assert!(asked.mac.is_some() && asked.guid.is_some() && asked.device.is_some());
    assert_eq!(asked.default_routes, ["10.0.0.254".parse::<IpAddr>().unwrap()]);
    assert_eq!(asked.unknown, ["gateway"]);
}

#[test]
fn refuses_values_that_multus_refuses() {
    for element in [
        r#""ips":"10.0.0.1""#,
        r#""ips":["10.0.0.256"]"#,
        r#""ips":["10.0.0.1/33"]"#,
        r#""ips":[null]"#,
        r#""mac":"02:00:00:00:00""#,
        r#""mac":7"#,
        r#""infiniband-guid":"0x1""#,
        r#""default-route":"10.0.0.1""#,
        r#""default-route":["gateway"]"#,
        r#""cni-args":[]"#,
    ] {
        let text = format!("[{{\"name\":\"a\",{element}}}]");
        let error = parse_within_limit(&text).unwrap_err();
        assert!(matches!(error, AnnotationError::BadValue { index: 1, .. }), "{element}: {error}");
    }
}

#[test]
fn counts_octets_as_go_does() {
    for (text, count) in [
        ("00:00:5e:00:53:01", Some(6)),
        ("02-00-5E-10-00-00-00-01", Some(8)),
        ("0000.5e00.5301", Some(6)),
        ("0200.5e10.0000.0001", Some(8)),
        ("00:00:00:00", None),
        ("00:00:5e:00:53:0g", None),
        ("00-00:5e:00:53:01", None),
        ("000000000001", None),
        ("", None),
    ] {
        assert_eq!(count_octets_of_hardware_address(text), count, "{text}");
    }
}
