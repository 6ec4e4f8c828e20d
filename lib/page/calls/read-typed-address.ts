/** What a person typed into an address field: the URL to open, or a sentence that says why it is no address. */
type TypedAddress = { isAddress: true; url: string } | { isAddress: false; problem: string };

const QUOTED_MAX = 80;
const DOTTED_QUAD = /^(\d{1,3}\.){3}\d{1,3}$/;

/**
 * Reads what a person typed where an address belongs. A complete http(s) URL is returned as typed. A host without a
 * scheme gets one: `https` as a rule, `http` for localhost, IP addresses and ports other than 443, because servers
 * there rarely speak TLS. Everything else (search words, one bare word, another scheme) is a problem, never a guess.
 * The page calls it before it sends an address, and the server applies it to what it receives.
 */
export function readTypedAddress(text: string): TypedAddress {
  const typed = text.trim();
  if (typed === "") return { isAddress: false, problem: "Type an address, such as shop.example." };
  if (/^https?:\/\//i.test(typed)) return parses(typed) ? found(typed) : notAnAddress(typed);
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
  // One bare word is a search word, unless a port shows that a host is meant.
  if (!isIp && !isLocal && !isName(host) && port === undefined) return notAnAddress(typed);
  const isPlain = isIp || isLocal || (port !== undefined && port !== "443");
  const url = `${isPlain ? "http" : "https"}://${typed}`;
  return /[\s@]/.test(authority) || !parses(url) ? notAnAddress(typed) : found(url);
}

/** Whether it has two labels or more, the last of them no number: `3.14` is a number, not a host. */
function isName(host: string): boolean {
  const labels = host.replace(/\.$/, "").split(".");
  return labels.length > 1 && !labels.includes("") && !/^\d*$/.test(labels.at(-1) ?? "");
}

function parses(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname !== "";
}

const found = (url: string): TypedAddress => ({ isAddress: true, url });

function notAnAddress(typed: string): TypedAddress {
  const quoted = typed.length > QUOTED_MAX ? `${typed.slice(0, QUOTED_MAX)}…` : typed;
  return {
    isAddress: false,
    problem: `"${quoted}" is not an address. Type one like shop.example or https://shop.example/checkout.`,
  };
}
