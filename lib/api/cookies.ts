/** The value of a cookie in a `Cookie` header. */
export function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

const SHARE = "share";

/** The share token a visitor of a session page carries. */
export const readShareCookie = (header: string | null): string | undefined => readCookie(header, SHARE);

/** The cookies that keep a visitor in one session: one for its pages, one for its data. Source: `security.md`, Share URL. */
export const shareCookies = (sessionId: string, token: string, isSecure: boolean): string[] =>
  [`/s/${sessionId}`, `/api/sessions/${sessionId}`].map(
    (path) =>
      `${SHARE}=${token}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=2592000${isSecure ? "; Secure" : ""}`,
  );
