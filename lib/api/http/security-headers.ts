/** What an answer is to a browser; it decides about the headers. */
export type AnswerKind =
  /** A page of ours, or what stands in its place: a redirect, a 404. */
  | "page"
  /** Data, pictures and files for our pages and for programs. */
  | "data"
  /** Files of the demo shop, whose page may have an opaque origin of its own. */
  | "demo"
  /** A landing page below `/p/`, which an agent made. */
  | "landing-page";

type Headers = readonly (readonly [name: string, value: string])[];

/** What no page here needs, ours or an agent's: the browser would ask for it in the name of our host. */
const DENIED_TO_ALL = [
  "accelerometer",
  "bluetooth",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
];
/** Landing pages may play videos and offer a button that copies; ours only copy. */
const DENIED_TO_OURS = [...DENIED_TO_ALL, "autoplay", "encrypted-media", "fullscreen", "picture-in-picture"];
const deny = (features: readonly string[]): string => features.map((name) => `${name}=()`).join(", ");

const NOSNIFF = ["X-Content-Type-Options", "nosniff"] as const;
const NO_REFERRER = ["Referrer-Policy", "no-referrer"] as const;
const CORP = "Cross-Origin-Resource-Policy";

const HEADERS: Record<AnswerKind, Headers> = {
  page: [
    NOSNIFF,
    NO_REFERRER,
    [CORP, "same-origin"],
    ["Cross-Origin-Opener-Policy", "same-origin"],
    ["Permissions-Policy", deny(DENIED_TO_OURS)],
  ],
  // Some of these answers are sandboxed, and browsers refuse to show a sandboxed answer that has an opener policy.
  data: [
    NOSNIFF,
    NO_REFERRER,
    [CORP, "same-origin"],
    ["Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"],
  ],
  demo: [
    NOSNIFF,
    NO_REFERRER,
    [CORP, "cross-origin"],
    ["Permissions-Policy", deny(DENIED_TO_OURS)],
    ["Access-Control-Allow-Origin", "*"],
  ],
  // Their addresses are public, and embedded players ask for the origin.
  "landing-page": [
    NOSNIFF,
    ["Referrer-Policy", "strict-origin-when-cross-origin"],
    [CORP, "cross-origin"],
    ["Permissions-Policy", deny(DENIED_TO_ALL)],
  ],
};

/** A year, and every host below ours: OWASP ASVS 5, 3.4.1. */
const STRICT_TRANSPORT = ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"] as const;
const keepSecure = (headers: Headers): Headers => [...headers, STRICT_TRANSPORT];
const SECURE_HEADERS: Record<AnswerKind, Headers> = {
  page: keepSecure(HEADERS.page),
  data: keepSecure(HEADERS.data),
  demo: keepSecure(HEADERS.demo),
  "landing-page": keepSecure(HEADERS["landing-page"]),
};

/**
 * The security headers of an answer. A handler may replace one of them by its own. Source: `security.md`, Headers;
 * decision 053.
 *
 * @param isHttps whether browsers reach this host by https.
 */
export const securityHeaders = (kind: AnswerKind, isHttps: boolean): Headers =>
  (isHttps ? SECURE_HEADERS : HEADERS)[kind];

/** What the answer at an address without an operation is to a browser. Landing pages are served before anything else. */
export function answerKindOf(pathname: string): Exclude<AnswerKind, "landing-page"> {
  if (/^\/(api|v|_next)\//.test(pathname)) return "data";
  return isDemo(pathname) ? "demo" : "page";
}

/** Whether an address is of the demo shop. */
export const isDemo = (pathname: string): boolean => pathname === "/demo" || pathname.startsWith("/demo/");
