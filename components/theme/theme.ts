/**
 * The names of the theme cookie: the first over https, the second over http. The server renders a page in the theme
 * that the cookie names.
 */
export const THEME_COOKIES = ["__Host-theme", "theme"] as const;

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/**
 * Reads the theme from the value of the cookie. Without a cookie, or with an unknown value, returns `system`: the theme
 * of the operating system.
 */
export const readTheme = (value: string | undefined): Theme =>
  THEMES.find((theme) => theme === value) ?? "system";

/** Applies a theme. Light and dark are stored in a cookie for a year; the theme of the system removes the cookie. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const maxAgeS = theme === "system" ? 0 : 365 * 24 * 3600;
  const isHttps = location.protocol === "https:";
  const [secureName, plainName] = THEME_COOKIES;
  writeCookie(isHttps ? `${secureName}=${theme}; secure` : `${plainName}=${theme}`, maxAgeS);
  // Removes the cookie of an earlier version, which used this name over https, too.
  if (isHttps) writeCookie(`${plainName}=`, 0);
}

function writeCookie(cookie: string, maxAgeS: number): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `${cookie}; path=/; max-age=${maxAgeS}; samesite=lax`;
}

/** Returns the page's current theme. */
export const currentTheme = (): Theme => readTheme(document.documentElement.dataset.theme);
