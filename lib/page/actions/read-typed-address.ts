import { shorten } from "#lib/text/shorten.ts";

/** The URL that the text of an address field means, or a sentence that says why the text is not an address. */
type TypedAddress = { isAddress: true; url: string } | { isAddress: false; problem: string };

const QUOTED_MAX = 80;
const DOTTED_QUAD = /^(\d{1,3}\.){3}\d{1,3}$/;

/**
 * Parses the text of an address field. A complete http(s) URL is returned as typed. A host without a scheme gets
 * `https`. Localhost, IP addresses and hosts with a port other than 443 get `http`, because servers there rarely speak
 * TLS. Everything else (search words, a single word without a port, another scheme) is a problem; the function never
 * guesses. The page calls this function before it sends an address. The server calls the function again on the text
 * that the server receives.
 */
export function readTypedAddress(text: string): TypedAddress {
  const typed = text.trim();
  if (typed === "") return { isAddress: false, problem: "Type an address, such as shop.example." };
  if (/^https?:\/\//i.test(typed)) return isUrl(typed) ? address(typed) : notAnAddress(typed);
  const [authority = ""] = typed.split(/[/?#\\]/);
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority) ?? [];
  if (host === "") {
    const scheme = /^([a-z][a-z0-9+.-]*):\S/i.exec(typed)?.[1];
    return scheme !== undefined && !/^https?$/i.test(scheme)
      ? { isAddress: false, problem: `Only http and https addresses can be opened, not "${scheme}:".` }
      : notAnAddress(typed);
  }
  const isIp = host.startsWith("[") || DOTTED_QUAD.test(host);
  const isLocal = /^(.+\.)?localhost$/i.test(host);
  // A single word is a search word, unless a port shows that it is a host.
  if (!isIp && !isLocal && !isHostName(host) && port === undefined) return notAnAddress(typed);
  const isPlain = isIp || isLocal || (port !== undefined && port !== "443");
  const url = `${isPlain ? "http" : "https"}://${typed}`;
  return /[\s@]/.test(authority) || !isUrl(url) ? notAnAddress(typed) : address(url);
}

/**
 * Whether a text is a host name: at least two labels, of which the last is not a number. Therefore, `3.14` is not a
 * host name.
 */
function isHostName(host: string): boolean {
  const labels = host.replace(/\.$/, "").split(".");
  return labels.length > 1 && !labels.includes("") && !/^\d*$/.test(labels.at(-1) ?? "");
}

function isUrl(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname !== "";
}

const address = (url: string): TypedAddress => ({ isAddress: true, url });

function notAnAddress(typed: string): TypedAddress {
  const quoted = shorten(typed, QUOTED_MAX);
  return {
    isAddress: false,
    problem: `"${quoted}" is not an address. Type one like shop.example or https://shop.example/checkout.`,
  };
}
