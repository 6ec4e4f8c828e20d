import { connect } from "node:tls";
import { hostAndPort } from "#lib/net/address-rule.ts";
import { toGuardedFetchError } from "#lib/net/guarded-fetch-error.ts";

const SENTENCES: Readonly<Record<string, string>> = {
  TimedOut: "did not answer in time",
  ConnectionClosed: "closed the connection",
  ConnectionReset: "closed the connection",
  ConnectionAborted: "closed the connection",
  ConnectionRefused: "refused the connection",
  ConnectionFailed: "could not be connected to",
  NameNotResolved: "could not be resolved to an address",
  InternetDisconnected: "could not be reached: this machine has no network",
  AddressUnreachable: "could not be reached",
  AccessDenied: "may not be reached",
  BlockedByClient: "was blocked",
  BlockedByResponse: "does not let itself be shown",
};

const DIAGNOSIS_TIMEOUT_MS = 3_000;

/** What explaining needs: the proxy's own account, and whether a host may be asked again. */
export type FailureContext = {
  findRefusal: (url: URL) => string | undefined;
  /** Addresses at which the URL's host may be connected to; none where it is refused. */
  resolve: (url: URL) => Promise<string[]>;
};

/**
 * Says in a sentence why a document did not load. `errorReason` is DevTools' coarse reason; where it tells nothing
 * and the URL is https, the handshake is made once more from here, because then a certificate is the usual cause.
 */
export async function explainFailure(
  context: FailureContext,
  href: string,
  errorReason: string,
): Promise<string> {
  const url = URL.parse(href);
  if (!url) return `${href} could not be loaded`;
  const refusal = context.findRefusal(url);
  if (refusal !== undefined) return refusal;
  const sentence = SENTENCES[errorReason];
  if (sentence !== undefined) return `${url.host} ${sentence}`;
  const diagnosis = url.protocol === "https:" ? await diagnoseTls(context, url) : undefined;
  return diagnosis ?? `${url.host} could not be loaded`;
}

async function diagnoseTls(context: FailureContext, url: URL): Promise<string | undefined> {
  const [address] = await context.resolve(url);
  if (address === undefined) return undefined;
  const { hostname, port } = hostAndPort(url);
  return new Promise((resolve) => {
    const servername = hostname === address ? {} : { servername: hostname };
    const socket = connect({ host: address, port, ...servername, timeout: DIAGNOSIS_TIMEOUT_MS });
    const end = (sentence: string | undefined) => {
      socket.destroy();
      resolve(sentence);
    };
    socket.once("secureConnect", () => end(undefined));
    socket.once("timeout", () => end(`${url.host} did not answer in time`));
    socket.once("error", (error) => end(toGuardedFetchError(error, url.host).message));
  });
}
