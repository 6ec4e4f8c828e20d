import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  clientOf,
  PEER_HEADER,
  readAddressRanges,
  readClientAddress,
  readClientSubject,
  recordPeer,
} from "./client-address.ts";

const subjectOf = (peer: string | undefined, forwardedFor: string | null = null, trusted = "") =>
  readClientSubject({ peer, forwardedFor }, readAddressRanges(trusted));

test("a request that Next created has the address from the server's header, whose name clients cannot know", () => {
  const passedOn = new Request("http://service/", { headers: { [PEER_HEADER]: "203.0.113.7" } });
  assert.equal(clientOf(passedOn).peer, "203.0.113.7");
  const received = new Request("http://service/", { headers: { "x-forwarded-for": "198.51.100.1" } });
  assert.deepEqual(clientOf(received), { peer: undefined, forwardedFor: "198.51.100.1" });
  recordPeer(received, "203.0.113.8");
  assert.equal(clientOf(received).peer, "203.0.113.8");
  assert.match(PEER_HEADER, /^x-peer-[0-9a-f-]{36}$/);
});

describe("the subject of a client", () => {
  test("is the address of the connection if no proxy is trusted", () => {
    assert.equal(subjectOf("203.0.113.7"), "203.0.113.7");
    assert.equal(subjectOf("203.0.113.7", "198.51.100.1"), "203.0.113.7");
    assert.equal(subjectOf(undefined, "198.51.100.1", "127.0.0.1"), undefined);
  });

  test("is the /64 of an IPv6 address", () => {
    const one = subjectOf("2001:db8:1:2:aaaa::1");
    assert.equal(one, "2001:db8:1:2::/64");
    assert.equal(subjectOf("2001:db8:1:2:bbbb:cccc:dddd:eeee"), one);
    assert.notEqual(subjectOf("2001:db8:1:3:aaaa::1"), one);
  });

  test("is the IPv4 address that is mapped into IPv6", () => {
    assert.equal(subjectOf("::ffff:203.0.113.7"), "203.0.113.7");
  });

  test("is the last address of X-Forwarded-For that is not a trusted proxy", () => {
    const trusted = "127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48";
    assert.equal(subjectOf("127.0.0.1", "203.0.113.7", trusted), "203.0.113.7");
    assert.equal(subjectOf("10.1.1.1", "203.0.113.7, 10.2.2.2", trusted), "203.0.113.7");
    // Each proxy appends the address that it sees, so entries that the client forged precede the client's real address.
    assert.equal(subjectOf("10.1.1.1", "1.1.1.1, 203.0.113.7", trusted), "203.0.113.7");
    assert.equal(subjectOf("2001:db8:ffff::1", "2001:db8:5::1", trusted), "2001:db8:5::/64");
    assert.equal(subjectOf("203.0.113.9", "1.1.1.1", trusted), "203.0.113.9");
  });

  test("is the nearest known address if an entry is not an address", () => {
    assert.equal(subjectOf("127.0.0.1", "unknown", "127.0.0.1"), "127.0.0.1");
    assert.equal(subjectOf("127.0.0.1", "203.0.113.7:4711", "127.0.0.1"), "203.0.113.7");
    assert.equal(subjectOf("127.0.0.1", "[2001:db8:5::1]:443", "127.0.0.1"), "2001:db8:5::/64");
  });

  test("differs from the full address, which the security log contains", () => {
    const client = { peer: "127.0.0.1", forwardedFor: "2001:db8:5::1" };
    assert.equal(readClientAddress(client, readAddressRanges("127.0.0.1")), "2001:db8:5::1");
    assert.equal(readClientAddress(client, []), "127.0.0.1");
  });

  test("a trusted proxy must be an address or a range", () => {
    assert.throws(() => readAddressRanges("10.0.0.0/8, proxy.example"), /proxy\.example is neither/);
  });
});
