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
 * @throws Error with a clause that says why the host cannot be reached, or that it refuses the token.
 */
export async function identifyHost(endpoint: HostEndpoint): Promise<HostIdentity> {
  return readIdentity(
    await requestIdentity(endpoint).catch((error: unknown) => {
      throw new Error(explain(error), { cause: error });
    }),
  );
}

async function requestIdentity({ url, token }: HostEndpoint): Promise<string> {
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
        : reject(
            new Error(
              response.statusCode === 401
                ? "it refuses the token: BROWSER_HOST_TOKEN must be the same for the host and for the service"
                : `it answered ${response.statusCode}`,
            ),
          ),
    );
  });
  request.end();
  return promise;
}

const UNTRUSTED =
  "its certificate is not trusted: name the certificate of its authority in NODE_EXTRA_CA_CERTS";
const EXPLANATIONS: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "it ended the connection; a host with a certificate needs wss://",
  ENOTFOUND: "its name cannot be resolved",
  EPROTO: "it does not use TLS: it was started without BROWSER_HOST_CERT",
  ABORT_ERR: `it did not answer within ${IDENTIFY_MS_MAX / 1_000} s`,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** Explains an error of a request to an operator, as a clause about the host. */
function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return EXPLANATIONS[code ?? ""] ?? message;
}

function readIdentity(text: string): HostIdentity {
  const { id, protocol, places } = JSON.parse(text) as Partial<HostIdentity>;
  if (!/^bh_[\w-]{12}$/.test(id ?? "") || !Number.isInteger(protocol) || !Number.isInteger(places))
    throw new Error("the answer is not that of a browser host");
  return { id, protocol, places } as HostIdentity;
}
