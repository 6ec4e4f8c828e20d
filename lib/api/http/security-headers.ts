/** The kind of a response. It determines the security headers. */
export type AnswerKind =
  /** A page of the service, or a redirect or 404 that is sent instead of a page. */
  | "page"
  /** The page of a frame, which pages of `EMBED_ORIGINS` show. */
  | "frame"
  /** Data, pictures and files that the service's pages and programs load. */
  | "data"
  /** The page and the files of the demo shop. The page may have an opaque origin. */
  | "demo"
  /** A landing page below `/p/`, which an agent wrote. */
  | "landing-page";

type Headers = readonly (readonly [name: string, value: string])[];

/**
 * Browser features that no page on this host needs. If a page used such a feature, the browser would ask for permission
 * in the name of the service's host.
 */
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
/**
 * Browser features that the service's own pages and the demo shop do not need. Landing pages may use the features that
 * {@link DENIED_TO_ALL} does not list, for example to play videos.
 */
const DENIED_TO_OWN_PAGES = [
  ...DENIED_TO_ALL,
  "autoplay",
  "encrypted-media",
  "fullscreen",
  "picture-in-picture",
];
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
    ["Permissions-Policy", deny(DENIED_TO_OWN_PAGES)],
  ],
  // Pages that are isolated from other origins may show only frames with this resource policy.
  frame: [NOSNIFF, NO_REFERRER, [CORP, "cross-origin"], ["Permissions-Policy", deny(DENIED_TO_OWN_PAGES)]],
  // All kinds except `page` have no opener policy. Some of their responses are sandboxed, and browsers refuse to show a
  // sandboxed response with an opener policy.
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
    ["Permissions-Policy", deny(DENIED_TO_OWN_PAGES)],
    ["Access-Control-Allow-Origin", "*"],
  ],
  // The origin is sent as referrer, because embedded players require a referrer. The URLs of landing pages are public
  // anyway.
  "landing-page": [
    NOSNIFF,
    ["Referrer-Policy", "strict-origin-when-cross-origin"],
    [CORP, "cross-origin"],
    ["Permissions-Policy", deny(DENIED_TO_ALL)],
  ],
};

/** Requires https for one year, including subdomains. Source: OWASP ASVS 5, 3.4.1. */
const STRICT_TRANSPORT = ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"] as const;
const withStrictTransport = (headers: Headers): Headers => [...headers, STRICT_TRANSPORT];
const SECURE_HEADERS: Record<AnswerKind, Headers> = {
  page: withStrictTransport(HEADERS.page),
  frame: withStrictTransport(HEADERS.frame),
  data: withStrictTransport(HEADERS.data),
  demo: withStrictTransport(HEADERS.demo),
  "landing-page": withStrictTransport(HEADERS["landing-page"]),
};

/**
 * Returns the security headers of a response. A handler may replace each of them. Source: `security.md`, Headers;
 * decision 053.
 *
 * @param isHttps whether browsers reach this host over https.
 */
export const securityHeaders = (kind: AnswerKind, isHttps: boolean): Headers =>
  (isHttps ? SECURE_HEADERS : HEADERS)[kind];

/**
 * Returns the kind of the response to a path that no operation serves. Landing pages are served before this function is
 * called.
 */
export function answerKindOf(pathname: string): Exclude<AnswerKind, "landing-page"> {
  if (/^\/(api|v|_next)\//.test(pathname)) return "data";
  if (isFrame(pathname)) return "frame";
  return isDemo(pathname) ? "demo" : "page";
}

/** Whether a path belongs to the page of a frame. */
export const isFrame = (pathname: string): boolean => pathname.startsWith("/embed/");

/** Whether a path belongs to the demo shop. */
export const isDemo = (pathname: string): boolean => pathname === "/demo" || pathname.startsWith("/demo/");
