import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Env } from "./env.ts";

/**
 * Returns the URL at which processes of the service on other machines reach this one: `INTERNAL_URL`, or the address at
 * which it listens. Undefined if it listens on loopback only.
 */
export function findInternalUrl({
  INTERNAL_URL: chosen,
  HOST: host,
  PORT: port,
  isLoopback,
}: Pick<Env, "INTERNAL_URL" | "HOST" | "PORT" | "isLoopback">): string | undefined {
  if (chosen !== undefined) return chosen;
  if (isLoopback) return undefined;
  const address = host === "0.0.0.0" || host === "::" ? findOwnAddress() : host;
  return address && `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
}

/** Returns an address of this machine that others may reach. Undefined if it has none. */
const findOwnAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === "IPv4")?.address;
