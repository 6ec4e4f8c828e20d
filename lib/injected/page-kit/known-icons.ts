/**
 * Icons of Material Icons and Heroicons that pages draw without any name, by the first four and the last two numbers of
 * their paths, so that the letters and spaces between them do not matter. Icons that these numbers do not tell apart are
 * left out. They are those of the packages `@mui/icons-material` 9.5 and `@heroicons/react` 2.2.
 */
const KNOWN_ICONS: Record<string, string> = {
  "9 16.17 4.83 12 -1.41 -1.41": "check",
  "9 16.2 4.8 12 -1.4 -1.4": "check",
  "4.5 12.75 6 6 9 -13.5": "check",
  "19.916 4.626 0.75 0.75 1.04 -0.207": "check",
  "12 2 6.48 2 19 8": "check circle",
  "9 12.75 11.25 15 18 0": "check circle",
  "2.25 12 0 -5.385 3.75 -5.25": "check circle",
  "19 6.41 17.59 5 13.41 12": "close",
  "6 18 18 6 12 12": "close",
  "5.47 5.47 0.75 0.75 0 -1.06": "close",
  "12 2 6.47 2 13.41 12": "cancel",
  "9.75 9.75 4.5 4.5 18 0": "cancel",
  "12 2.25 -5.385 0 -1.72 -1.72": "cancel",
  "14.59 8 12 10.59 -8 8": "cancel outline",
  "12 17.27 18.18 21 5.82 21": "star",
  "10.788 3.21 0.448 -1.077 2.082 -5.005": "star",
  "22 9.24 -7.19 -0.62 1 4.28": "star outline",
  "11.48 3.499 0.562 0.562 11.48 3.5": "star outline",
  "12 21.35 -1.45 -1.32 -8.55 11.54": "heart",
  "16.5 3 -1.74 0 -7.9 10.05": "heart outline",
  "6 19 0 1.1 2 14": "delete",
  "14.74 9 -0.346 9 -7.5 0": "delete",
  "16.5 4.478 0.227 48.816 0.345 -9": "delete",
  "3 17.25 21 3.75 3.75 3.75": "edit",
  "19 13 -6 6 6 6": "add",
  "19 13 5 -2 -2 14": "remove",
  "3 18 18 -2 18 6": "menu",
  "12 8 1.1 0 -2 -2": "more",
  "6 10 -1.1 0 -2 -2": "more",
  "15.5 14 -0.79 -0.28 9.5 14": "search",
  "12 4.5 7 4.5 -3 -3": "visible",
  "12 7 2.76 0 -3 -3": "not visible",
  "1 21 22 12 -4 2": "warning",
  "11 7 2 2 -8 8": "info",
  "12 2 6.48 2 -0.93 2.25": "help",
  "18 8 -1 6 3.1 3.1": "lock",
  "12 17 1.1 0 10 12": "lock open",
  "1 21 4 9 0.14 -0.73": "thumb up",
  "15 3 6 -0.83 4 3": "thumb down",
  "4 12 1.41 1.41 -8 -8": "arrow up",
  "20 12 -1.41 -1.41 8 8": "arrow down",
  "20 11 7.83 5.59 13 20": "arrow back",
  "12 4 -1.41 1.41 8 -8": "arrow forward",
  "16.59 8.59 12 13.17 6 -6": "expand more",
  "12 8 -6 6 18 14": "expand less",
  "15.41 7.41 14 6 10.83 12": "chevron left",
  "10 6 8.59 7.41 6 -6": "chevron right",
  "17 3 7 -1.1 -2 -2": "bookmark",
  "17 3 7 -1.1 5 10": "bookmark outline",
  "19.14 12.94 0.04 -0.3 -3.6 3.6": "settings",
};
const PATH_CHARS_MAX = 2_000;

/** The name of a known icon. @param path the commands of its paths, one after the other. */
export function knownIcon(path: string): string | undefined {
  const numbers =
    path
      .slice(0, PATH_CHARS_MAX)
      .match(/-?\d*\.?\d+/g)
      ?.map(Number) ?? [];
  const key = [...numbers.slice(0, 4), ...numbers.slice(-2)].join(" ");
  return Object.hasOwn(KNOWN_ICONS, key) ? KNOWN_ICONS[key] : undefined;
}
