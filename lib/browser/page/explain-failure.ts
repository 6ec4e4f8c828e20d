import { connect } from "node:tls";
import { hostAndPort } from "#lib/net/address/address-rule.ts";
import { toGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";

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
  BlockedByResponse: "does not allow the browser to show it",
};

/**
 * Meanings of Chromium's network errors, by code without the prefix `net::ERR_`. Each text completes a sentence that
 * begins with the address.
 */
const NET_ERRORS: Readonly<Record<string, string>> = {
  ABORTED:
    "was not opened: it was replaced by another navigation, or answered with a download or without a page",
  ADDRESS_UNREACHABLE: "could not be reached",
  BLOCKED_BY_CLIENT: "was blocked",
  BLOCKED_BY_RESPONSE: "does not allow the browser to show it",
  CERT_AUTHORITY_INVALID: "has a certificate that no known authority signed",
  CERT_COMMON_NAME_INVALID: "has a certificate for another name",
  CERT_DATE_INVALID: "has a certificate that is not valid at this date",
  CONNECTION_CLOSED: "closed the connection",
  CONNECTION_REFUSED: "refused the connection",
  CONNECTION_RESET: "closed the connection",
  CONNECTION_TIMED_OUT: "did not answer in time",
  EMPTY_RESPONSE: "closed the connection without an answer",
  FAILED: "could not be loaded",
  HTTP_RESPONSE_CODE_FAILURE: "answered with an error and without a page",
  INTERNET_DISCONNECTED: "could not be reached: this machine has no network",
  INVALID_RESPONSE: "gave an answer that is not HTTP",
  INVALID_URL: "is not a valid address",
  NAME_NOT_RESOLVED: "could not be resolved to an address",
  PROXY_CONNECTION_FAILED: "could not be reached through the service's proxy",
  SSL_PROTOCOL_ERROR: "does not speak TLS at this port",
  TIMED_OUT: "did not answer in time",
  TOO_MANY_REDIRECTS: "redirects without end",
  TUNNEL_CONNECTION_FAILED: "could not be connected to",
  UNKNOWN_URL_SCHEME: "has a scheme that the browser does not open",
  UNSAFE_PORT: "uses a port that browsers do not open",
};

/** Describes a `net::ERR_…` code of Chromium for an address, in the form `<address> <words> (<code>)`. */
export function describeNetError(code: string, address: string): string {
  const sentence = NET_ERRORS[code.replace(/^net::ERR_/, "")] ?? "could not be loaded";
  return `${address} ${sentence} (${code})`;
}

const DIAGNOSIS_TIMEOUT_MS = 3_000;

type FailureContext = {
  findRefusal: (url: URL) => string | undefined;
  /** Resolves the URL's host to the addresses that may be contacted. Empty if the host is refused or has no address. */
  resolve: (url: URL) => Promise<string[]>;
};

/**
 * Explains in a sentence why a document did not load. If `findRefusal` has a reason, returns that reason. Otherwise
 * explains `errorReason`, which comes from DevTools. If `SENTENCES` does not contain `errorReason` and the URL is
 * https, repeats the TLS handshake, because the usual cause is the certificate.
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
