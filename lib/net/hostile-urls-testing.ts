import type { Lookup } from "./address/address-rule.ts";

/** Host names of the tests, with the addresses that the tests' resolver returns for them. */
const names: Record<string, string[]> = {
  "loop.example": ["127.0.0.1"],
  "loop6.example": ["::1"],
  "mixed.example": ["93.184.215.14", "127.0.0.1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "private.example": ["192.168.1.1"],
  "meta.example": ["169.254.169.254"],
  "zero.example": ["0.0.0.0"],
  "zone.example": ["fe80::1%lo"],
  "nonsense.example": ["not an address"],
  "xn--mnchen-3ya.example": ["127.0.0.1"],
  "cgnat.example": ["100.64.1.1"],
  "compat.example": ["::127.0.0.1"],
  "teredo.example": ["2001:0:7f00:1::"],
  "six-to-four.example": ["2002:7f00:1::1"],
  "broadcast.example": ["255.255.255.255"],
  "doc.example": ["2606:4700::1", "2001:db8::1"],
  // Malformed answers of a resolver: an address in short notation, one with a port, and an empty one.
  "short.example": ["127.1"],
  "port.example": ["127.0.0.1:80"],
  "empty.example": [""],
};

/** Resolves the host names in `names`. Other names have no address. */
export const hostileLookup: Lookup = async (name) =>
  (names[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** Ways to write a host in a URL so that it means this machine, its network, or another address that is not public. */
export const hostileHosts: readonly string[] = `
127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 017700000001 0177.0.0.1 0177.0.0.01 0x7f000001 0x7F.0.0.1
0x7f.1 127.0x0.0.1 0x7f.0x0.0x0.0x1 00000177.0.0.1 %31%32%37.0.0.1 127%2E0%2E0%2E1 127。0。0。1 127．0．0．1 １２７.0.0.1
①②⑦.⓪.⓪.① ⑫7.0.0.1 0 0.0.0.0 0.0 00 0x0 0.1.2.3
10.0.0.1 10.1 0xa.1 012.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.257 3232235521 100.64.0.1 100.127.255.255
169.254.0.1 169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.170.2
100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 192.88.99.1 224.0.0.1 239.255.255.255
240.0.0.1 255.255.255.255 4294967295
[::1] [0:0:0:0:0:0:0:1] [0000::0001] [::] [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::FFFF:7f00:1] [::ffff:10.0.0.1]
[::ffff:169.254.169.254] [0:0:0:0:0:ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]
[64:ff9b:1::1] [64:ff9b:1:7f00:0:100::] [2002:7f00:1::] [2002:a00:1::1] [2001:0:4136:e378:8000:63bf:80ff:fffe]
[2001:db8::1] [2001:2::1] [2001:10::1] [3fff::1] [fc00::1] [fd00:ec2::254] [fd12:3456::1] [fe80::1] [febf::1] [fec0::1]
[ff02::1] [ff0e::1] [100::1] [5f00::1] [4000::1] [2606:4700::5efe:7f00:1]
localhost LOCALHOST LocalHost. ｌｏｃａｌｈｏｓｔ localhost.localdomain a.localhost foo.LOCALHOST. printer.local db.internal
metadata.google.internal METADATA.google.INTERNAL. instance-data.ec2.internal router.home.arpa
loop.example LOOP.Example. loop6.example mixed.example mapped.example nat64.example private.example meta.example zero.example
zone.example nonsense.example münchen.example
127.1. 127.0.0.1.. 0x7f000001. 0X7F000001 0x0000007f.0.0.1 0177.0x0.0.1 127.0.0.0x1 127.65535.255 127.16777215 0x7f.16777215
127。1 127｡0｡0｡1 ⓪x7f.1 ２１３０７０６４３３ 127.0.0.1\u00ad 1\u00ad27.0.0.1 127.0.0.1%2e %30x7f.1 0.0.0.0. 0x0.0x0.0x0.0x0 00.00.00.00
0.255.255.255 10.255.255.255 10.0.0.0 0xa000001 0x0a.0x00.0x00.0x01 172.16.0.0 0xac100001 172.1048577 192.168.255.255 0xc0a80001
0300.0250.1 100.64.0.0 0x64400001 169.254.0.0 169.254.255.255 0xa9.0xfe.0xa9.0xfe 0xA9FEA9FE. 169.16689662 169.254.170.23
192.0.0.1 192.0.0.8 192.0.0.170 198.19.255.255 224.0.0.251 239.255.255.250 250.1.2.3 255.255.255.254 0xffffffff 037777777777
[::0001] [0::1] [::ffff:0:1] [::1.2.3.4] [::a00:1] [::ffff:7f00:0001] [::ffff:c0a8:1] [::ffff:6440:1] [::ffff:0.0.0.0]
[0000:0000:0000:0000:0000:ffff:7f00:0001] [::ffff:0:a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b::192.168.0.1] [64:ff9b::100.64.0.1]
[64:ff9b::0.0.0.0] [64:ff9b::ffff:ffff] [64:ff9b:1::7f00:1] [64:ff9b:1:ffff::1] [2002:c0a8:1::1] [2002:a9fe:a9fe::1] [2002:e000:1::]
[2002::1] [2001::1] [2001:0:7f00:1::] [2001:20::1] [2001:db8:ffff::1] [3fff:fff::1] [3fff:abc::1] [fcff::1] [fdff::1] [fd00:ec2::23]
[fd20:ce::254] [fe80::ffff] [fe90::1] [feff::1] [ff01::1] [ff05::1:3] [0100::] [200::1] [1000::1] [6000::1] [8000::1] [e000::1]
[2606:4700::200:5efe:7f00:1] [2a00:1450::5efe:a00:1] [2a00:1450::5efe:a9fe:a9fe]
localhost. localhost.. LOCALHOST.LOCALDOMAIN a.b.c.localhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ local\u00adhost localhos\u200bt localhost%2e loc%61lhost
host.docker.internal kubernetes.local nas.home.arpa. a.LOCAL b.Internal c.localdomain
cgnat.example compat.example teredo.example six-to-four.example broadcast.example doc.example short.example port.example empty.example`
  .trim()
  .split(/[ \n]+/);

/**
 * URLs that must be refused if their host names resolve to a loopback address. Most of them are refused without a DNS
 * query, for their scheme, credentials, host, port or spelling.
 */
export const hostilePlaces: readonly string[] = [
  "http://user@public.example/",
  "http://user:pass@public.example/",
  "http://:pass@public.example/",
  "http://public.example@127.0.0.1/",
  "http://127.0.0.1\\@public.example/",
  "http://public.example#@127.0.0.1:0/",
  "ftp://public.example/",
  "file:///etc/passwd",
  "gopher://127.0.0.1/",
  "ws://public.example/",
  "data:text/plain,hi",
  "javascript:alert(1)",
  "blob:http://public.example/1",
  "http://public.example:0/",
  "http://public.example:22/",
  "https://public.example:25/",
  "http://public.example:6379@localhost/",
  "http:localhost",
  "http:\\\\localhost\\",
  "//localhost/",
  "http://",
  "http://256.1.1.1/",
  "http://1.2.3.4.5/",
  "http://[::1/",
  "http://public.example:99999/",
  "not a url",
  "HTTP://LOCALHOST/",
  "http:///127.0.0.1/",
  "http:////127.0.0.1/",
  "http:/\\127.0.0.1/",
  "http:127.0.0.1",
  "\\\\127.0.0.1\\",
  " http://127.0.0.1/ ",
  "\u0001http://127.0.0.1/",
  "ht\ntp://127.0.0.1/",
  "http://127.0.\t0.1/",
  "http://127.0.0.1\r\n.public.example@localhost/",
  "http://public.example\t@127.0.0.1/",
  "http://public.example:80@127.0.0.1/",
  "http://127.0.0.1%00.public.example/",
  "http://public.example%00/",
  "http://127.0.0.1?@public.example/",
  "http://127.0.0.1#@public.example/",
  "http://[::1%25lo]/",
  "http://[fe80::1%25eth0]/",
  "http://[fe80::1%eth0]/",
  "http://[::ffff:127.0.0.1%25lo]/",
  "http://[v1.127.0.0.1]/",
  "http://[127.0.0.1]/",
  "http://::1/",
  "http://0x7f.0.0.0x100/",
  "http://08.0.0.1/",
  "http://1.1.1.256/",
  "http://4294967296/",
  "http://public.example:-1/",
  "http://public.example:65536/",
  "http://public.example:0x50/",
  "http://public.example:6667/",
  "http://public.example:2049/",
  "https://public.example:22/",
  "https://user@public.example/",
  "https://%75ser:%70ass@public.example/",
  "wss://127.0.0.1/",
  "ldap://127.0.0.1/",
  "dict://127.0.0.1:11211/",
  "tftp://127.0.0.1/",
  "ssh://127.0.0.1/",
  "jar:http://127.0.0.1!/",
  "view-source:http://127.0.0.1/",
  "chrome://settings/",
  "about:blank",
  "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
  "unix:/var/run/docker.sock",
  "file://127.0.0.1/etc/passwd",
  "mailto:a@public.example",
  "http:",
  "https://",
  "//public.example/",
  "/relative",
  "?query",
  "",
];
