import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { hostPath, PROTOCOL_VERSION } from "./link-message.ts";
import type { HostEndpoint } from "./open-link.ts";

/** What a browser host says about itself to a process that is not connected yet. */
export type HostIdentity = {
  /** Chosen at the start of the host's process. */
  id: string;
  /** Version of the host's calls. */
  protocol: number;
  places: number;
};

const IDENTIFY_MS_MAX = 5_000;
const ANSWER_BYTES_MAX = 4_096;

/**
 * Asks which host listens at an address. A host of an older version then takes no new sessions.
 *
 * @throws Error if the host cannot be reached, or refuses the token.
 */
export async function identifyHost({ url, token }: HostEndpoint): Promise<HostIdentity> {
  const address = new URL(hostPath(PROTOCOL_VERSION), url.replace(/^ws/, "http"));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = (address.protocol === "https:" ? requestHttps : requestHttp)(address, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(IDENTIFY_MS_MAX),
    agent: false,
  });
  request.on("error", reject);
  request.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("error", reject);
    response.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > ANSWER_BYTES_MAX) response.destroy(new Error("the answer is too long"));
    });
    response.on("end", () =>
      response.statusCode === 200
        ? resolve(text)
        : reject(new Error(`the browser host answered ${response.statusCode}`)),
    );
  });
  request.end();
  return readIdentity(await promise);
}

function readIdentity(text: string): HostIdentity {
  const { id, protocol, places } = JSON.parse(text) as Partial<HostIdentity>;
  if (!/^bh_[\w-]{12}$/.test(id ?? "") || !Number.isInteger(protocol) || !Number.isInteger(places))
    throw new Error("the answer is not that of a browser host");
  return { id, protocol, places } as HostIdentity;
}
