import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { test } from "node:test";
import { describeAddress } from "#lib/net/address/describe-address.ts";
import { DENIED_RANGES } from "./box-network.ts";

const denied = new BlockList();
for (const range of DENIED_RANGES) {
  const [network = "", bits] = range.split("/");
  denied.addSubnet(network, Number(bits));
}

test("the policy of a box denies the IPv4 addresses that the network guard refuses, and no others", () => {
  // One address of every /16, and those next to the borders of the denied ranges.
  const borders = DENIED_RANGES.flatMap((range) => {
    const [network = "", bits] = range.split("/");
    const first = toNumber(network);
    const last = first + 2 ** (32 - Number(bits)) - 1;
    return [first - 1, first, last, last + 1];
  });
  const samples = Array.from({ length: 65_536 }, (_, index) => index * 65_536 + 257);
  const differing = [...borders, ...samples]
    .filter((number) => number >= 0 && number < 2 ** 32)
    .map(toAddress)
    .filter((address) => denied.check(address) !== (describeAddress(address) !== undefined));
  assert.deepEqual(differing, []);
});

const toNumber = (address: string) => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const toAddress = (number: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
