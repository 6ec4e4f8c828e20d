import type { DevtoolsCommand } from "./devtools-connection.ts";

/**
 * How a browser introduces itself to pages if they must not see that it is automated (`BROWSER_WEBDRIVER=false`): as the
 * same Chromium with a window would. The fields are the parameters of DevTools' `Emulation.setUserAgentOverride`.
 */
export type VisitorIdentity = {
  userAgent: string;
  userAgentMetadata: {
    brands: Brand[];
    fullVersionList: Brand[];
    platform: string;
    platformVersion: string;
    architecture: string;
    bitness: string;
    model: string;
    mobile: boolean;
    wow64: boolean;
  };
};

type Brand = { brand: string; version: string };

/** A brand that browsers add so that sites do not rely on the list. */
const GREASE = { brand: "Not:A-Brand", major: "8", full: "8.0.0.0" };
const PLATFORMS: Partial<Record<NodeJS.Platform, string>> = { darwin: "macOS", win32: "Windows" };

/**
 * Composes the identity from what a headless Chromium says about itself.
 *
 * @param version the result of DevTools' `Browser.getVersion`.
 */
export function composeIdentity(version: Record<string, unknown>): VisitorIdentity {
  const full = /\/([\d.]+)$/.exec(String(version.product))?.[1] ?? "";
  const major = full.split(".", 1)[0] ?? "";
  const list = (own: string, grease: string): Brand[] => [
    { brand: GREASE.brand, version: grease },
    { brand: "Chromium", version: own },
  ];
  return {
    // A Chromium with a window tells only its major version here.
    userAgent: String(version.userAgent).replace(/Headless(Chrome\/\d+)[\d.]*/, "$1.0.0.0"),
    userAgentMetadata: {
      brands: list(major, GREASE.major),
      fullVersionList: list(full, GREASE.full),
      platform: PLATFORMS[process.platform] ?? "Linux",
      platformVersion: "",
      architecture: process.arch.startsWith("arm") ? "arm" : "x86",
      bitness: "64",
      model: "",
      mobile: false,
      wow64: false,
    },
  };
}

/** Returns the flags with which Chromium has this identity in all its processes, except for its client hints. */
export const identityFlags = (identity: VisitorIdentity | undefined): string[] =>
  identity === undefined
    ? []
    : [`--user-agent=${identity.userAgent}`, "--disable-blink-features=AutomationControlled"];

/**
 * Returns the commands that give the identity, client hints included, to the target of a DevTools session.
 *
 * @param isStarting whether to let the target run after that, because no client of the session does.
 */
export const identityCommands = (
  identity: VisitorIdentity,
  sessionId: string,
  isStarting: boolean,
): DevtoolsCommand[] => [
  { method: "Emulation.setUserAgentOverride", params: identity, sessionId },
  ...(isStarting ? [{ method: "Runtime.runIfWaitingForDebugger", sessionId }] : []),
];
