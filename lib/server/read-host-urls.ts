import { isIP } from "node:net";

/**
 * Reads a comma-separated list of URLs of browser hosts.
 *
 * @returns the origins. @throws Error that names the position of the first invalid URL, and not the URL, which may contain
 * a password.
 */
export function readHostUrls(text: string): string[] {
  const texts = text.split(",").map((each) => each.trim());
  return texts.filter(Boolean).map((each, index) => {
    const address = URL.parse(each);
    const problem = findProblem(address);
    if (!address || problem !== undefined) throw new Error(`URL ${index + 1} of the list ${problem}`);
    return `${address.protocol}//${address.host}`;
  });
}

function findProblem(address: URL | null): string | undefined {
  if (address?.username || address?.password) return "must contain no credentials; set BROWSER_HOST_TOKEN";
  const isBare = address?.pathname === "/" && !address.search && !address.hash;
  if (!isBare || !/^wss?:$/.test(address.protocol))
    return "must be a URL such as wss://browsers-1.example:7411, without a path";
  if (address.protocol === "ws:" && !isLoopback(address.hostname))
    return "must begin with wss://, because ws:// is not encrypted; ws:// is accepted for loopback only";
  return undefined;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));
