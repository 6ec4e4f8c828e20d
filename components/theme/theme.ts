/** Where the chosen theme is kept: a cookie, so that the server draws the page in it. */
export const THEME_COOKIE = "theme";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The theme a cookie names; anything else is the system's. */
export const readTheme = (value: string | undefined): Theme =>
  THEMES.find((theme) => theme === value) ?? "system";

/** Shows the page in a theme and remembers it for a year. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const maxAgeS = theme === "system" ? 0 : 365 * 24 * 3600;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `${THEME_COOKIE}=${theme}; path=/; max-age=${maxAgeS}; samesite=lax`;
}

/** The theme the page is shown in now. */
export const currentTheme = (): Theme => readTheme(document.documentElement.dataset.theme);
