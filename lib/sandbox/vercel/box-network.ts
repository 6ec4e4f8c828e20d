import type { NetworkPolicy } from "@vercel/sandbox";

/** What a box can reach: nothing, or public addresses only. */
export type BoxNetwork = "none" | "public";

/**
 * The ranges that are not public, and addresses of metadata services that lie in public ranges. The platform's own policy
 * "allow-all" is not documented to deny them, and cannot carry a list of denied ranges. Source: IANA special-purpose
 * address registries; `security.md`, What leaves the service.
 */
export const DENIED_RANGES = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** The network policy of a box. Denied ranges win over allowed names. */
export const boxPolicies: Record<BoxNetwork, NetworkPolicy> = {
  none: "deny-all",
  public: { allow: ["*"], subnets: { deny: DENIED_RANGES } },
};
