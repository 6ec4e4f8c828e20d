/** Formats a duration: `0.4 s`, `12 s`, `3 min 5 s`, `1 h 2 min`. */
export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats how long ago a time was, rounded down: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function formatAge(iso: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} d ago`;
}

/** Formats how long it is until a future time, rounded: `for 5 min`, `for 3 h`, `for 30 d`. */
export function formatUntil(iso: string, now: number): string {
  const minutes = Math.max(1, Math.round((Date.parse(iso) - now) / 60_000));
  if (minutes < 60) return `for ${minutes} min`;
  if (minutes < 48 * 60) return `for ${Math.round(minutes / 60)} h`;
  return `for ${Math.round(minutes / (24 * 60))} d`;
}

/** Formats a URL without its scheme and without a trailing slash. */
export const formatAddress = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");

const UNITS = ["bytes", "KiB", "MiB"];

/** Formats a size: `980 bytes`, `17.8 KiB`. */
export function formatSize(bytes: number): string {
  const exponent = bytes < 1_024 ? 0 : bytes < 1_048_576 ? 1 : 2;
  const value = bytes / 1_024 ** exponent;
  return `${exponent === 0 ? value : value.toFixed(1)} ${UNITS[exponent]}`;
}
