/** Names of the theme cookie over https and over http. The server renders the page in the theme of the cookie. */
export const THEME_COOKIES = ["__Host-theme", "theme"] as const;

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Reads the theme from a cookie's value; any other value means the system's theme. */
export const readTheme = (value: string | undefined): Theme =>
  THEMES.find((theme) => theme === value) ?? "system";

/** Applies a theme and stores it for a year. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const maxAgeS = theme === "system" ? 0 : 365 * 24 * 3600;
  const isHttps = location.protocol === "https:";
  const [secureName, plainName] = THEME_COOKIES;
  writeCookie(isHttps ? `${secureName}=${theme}; secure` : `${plainName}=${theme}`, maxAgeS);
  // An earlier version wrote this cookie over https, too.
  if (isHttps) writeCookie(`${plainName}=`, 0);
}

function writeCookie(cookie: string, maxAgeS: number): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `${cookie}; path=/; max-age=${maxAgeS}; samesite=lax`;
}

/** The page's current theme. */
export const currentTheme = (): Theme => readTheme(document.documentElement.dataset.theme);
