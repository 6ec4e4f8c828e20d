/** The decision about one DevTools command of a script. `local` means that the relay answers the command itself. */
export type RelayVerdict =
  | { verdict: "forward" }
  | { verdict: "local" }
  | { verdict: "refuse"; reason: string };

/** The receiver of a command: the browser as a whole, or one target (page, frame, worker) that the script was shown. */
export type RelayScope = "browser" | "target";

/** Commands to the browser as a whole. The relay lets them reach only the session's pages and cookies. */
const BROWSER_COMMANDS: Record<string, "forward" | "local"> = {
  "Browser.getVersion": "forward",
  "Target.setAutoAttach": "local",
  "Target.getTargetInfo": "local",
  "Target.createTarget": "local",
  "Target.closeTarget": "local",
  "Target.detachFromTarget": "local",
  "Storage.getCookies": "forward",
  "Storage.setCookies": "forward",
  "Storage.clearCookies": "forward",
};

/** Commands to a page, frame or worker, by domain. Commands that are not listed are refused. */
const TARGET_COMMANDS: Record<string, readonly string[]> = {
  Accessibility: ["enable", "disable", "getFullAXTree", "getPartialAXTree", "queryAXTree"],
  CSS: ["enable", "disable", "getComputedStyleForNode", "getStyleSheetText"],
  DOM: [
    "enable",
    "disable",
    "describeNode",
    "focus",
    "getAttributes",
    "getBoxModel",
    "getContentQuads",
    "getDocument",
    "getFrameOwner",
    "getNodeForLocation",
    "getOuterHTML",
    "querySelector",
    "querySelectorAll",
    "requestNode",
    "resolveNode",
    "scrollIntoViewIfNeeded",
  ],
  DOMSnapshot: ["captureSnapshot"],
  Emulation: [
    "clearDeviceMetricsOverride",
    "setDefaultBackgroundColorOverride",
    "setDeviceMetricsOverride",
    "setEmulatedMedia",
    "setFocusEmulationEnabled",
    "setGeolocationOverride",
    "setLocaleOverride",
    "setScriptExecutionDisabled",
    "setTimezoneOverride",
    "setTouchEmulationEnabled",
    "setUserAgentOverride",
  ],
  Fetch: [
    "enable",
    "disable",
    "continueRequest",
    "continueResponse",
    "continueWithAuth",
    "failRequest",
    "fulfillRequest",
    "getResponseBody",
  ],
  IO: ["read", "close"],
  Input: [
    "dispatchDragEvent",
    "dispatchKeyEvent",
    "dispatchMouseEvent",
    "dispatchTouchEvent",
    "imeSetComposition",
    "insertText",
    "setInterceptDrags",
  ],
  Inspector: ["enable"],
  Log: ["enable", "disable"],
  Network: [
    "enable",
    "disable",
    "emulateNetworkConditions",
    "emulateNetworkConditionsByRule",
    "getRequestPostData",
    "getResponseBody",
    "overrideNetworkState",
    "setBypassServiceWorker",
    "setCacheDisabled",
    "setExtraHTTPHeaders",
  ],
  Page: [
    "enable",
    "disable",
    "addScriptToEvaluateOnNewDocument",
    "bringToFront",
    "captureScreenshot",
    "createIsolatedWorld",
    "getFrameTree",
    "getLayoutMetrics",
    "getNavigationHistory",
    "handleJavaScriptDialog",
    "navigate",
    "navigateToHistoryEntry",
    "printToPDF",
    "reload",
    "removeScriptToEvaluateOnNewDocument",
    "setFontFamilies",
    "setInterceptFileChooserDialog",
    "setLifecycleEventsEnabled",
    "stopLoading",
  ],
  Performance: ["enable", "disable", "getMetrics"],
  Runtime: [
    "enable",
    "disable",
    "addBinding",
    "callFunctionOn",
    "evaluate",
    "getProperties",
    "releaseObject",
    "releaseObjectGroup",
    "removeBinding",
    "runIfWaitingForDebugger",
  ],
  Target: ["setAutoAttach", "detachFromTarget"],
};

/** Specific error messages for refused commands, which tell the author of the script what to do. */
const REASONS: Record<string, string> = {
  "Target.createBrowserContext": "A script works on the session's pages: it opens no further contexts.",
  "Target.attachToBrowserTarget": "Raw DevTools sessions are not given to scripts; use the page.",
  "Browser.close": "The browser belongs to the session; a script cannot close it.",
  "Browser.setDownloadBehavior": "Downloads are stored in the session's workspace, below downloads/.",
  "Page.setDownloadBehavior": "Downloads are stored in the session's workspace, below downloads/.",
  "DOM.setFileInputFiles":
    "Files of the machine cannot be uploaded; give setInputFiles paths of the session's workspace.",
};

/**
 * Name prefix of the isolated worlds that the script's Playwright creates. The script does not see other isolated
 * worlds, such as the world of the service's overlay.
 */
const OWN_WORLD_PREFIX = "__playwright";

/** Whether a script may navigate the page to a URL: only http, https and about:blank are allowed. */
function isOpenableUrl(url: string): boolean {
  if (url === "about:blank") return true;
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === "http:" || protocol === "https:";
}

/** Whether a script may see and create an isolated world of this name. */
export const isOwnWorld = (name: unknown): boolean =>
  typeof name === "string" && name.startsWith(OWN_WORLD_PREFIX);

/**
 * Decides about one DevTools command of a script. Allows a command only if it is listed above. A command to a page,
 * frame or worker is also refused if one of its parameters is not allowed, such as a `file:` URL.
 */
export function judgeCommand(
  scope: RelayScope,
  method: string,
  params: Record<string, unknown>,
): RelayVerdict {
  if (scope === "browser") {
    const verdict = Object.hasOwn(BROWSER_COMMANDS, method) ? BROWSER_COMMANDS[method] : undefined;
    return verdict ? { verdict } : refuse(method);
  }
  const [domain = "", command = ""] = method.split(".");
  if (!Object.hasOwn(TARGET_COMMANDS, domain) || !TARGET_COMMANDS[domain]?.includes(command)) {
    return refuse(method);
  }
  const objection = findObjection(method, params);
  return objection ? { verdict: "refuse", reason: objection } : { verdict: "forward" };
}

function findObjection(method: string, params: Record<string, unknown>): string | undefined {
  switch (method) {
    case "Page.navigate":
      return isOpenableUrl(String(params.url)) ? undefined : refusedAddress(params.url);
    case "Fetch.continueRequest":
      // The service has checked the URL of the request before the script sees it, so the script must not change the URL.
      return params.url === undefined ? undefined : "A request cannot be sent on to another address.";
    case "Page.createIsolatedWorld":
      return isOwnWorld(params.worldName) ? undefined : "Scripts make no worlds of other names.";
    case "Page.addScriptToEvaluateOnNewDocument":
      return params.worldName === undefined || params.worldName === "" || isOwnWorld(params.worldName)
        ? undefined
        : "Scripts make no worlds of other names.";
    case "Runtime.addBinding":
      return params.executionContextName === undefined || isOwnWorld(params.executionContextName)
        ? undefined
        : "Scripts bind to no worlds of other names.";
    case "Input.dispatchDragEvent":
      return hasDraggedFiles(params.data)
        ? "Files of the machine cannot be dragged into the page."
        : undefined;
    case "Runtime.evaluate":
      // The helpers of the DevTools console, such as `getEventListeners` and `queryObjects`, can reach other worlds.
      if (params.includeCommandLineAPI === true) return "The console's own helpers are not open to scripts.";
      return params.uniqueContextId === undefined ? undefined : "Contexts are named by their contextId.";
    default:
      return params.uniqueContextId === undefined ? undefined : "Contexts are named by their contextId.";
  }
}

const refusedAddress = (url: unknown) =>
  `"${String(url).slice(0, 200)}" was refused: a script may open http(s) addresses and about:blank only.`;

const hasDraggedFiles = (data: unknown) =>
  typeof data === "object" &&
  data !== null &&
  "files" in data &&
  Array.isArray(data.files) &&
  data.files.length > 0;

const refuse = (method: string): RelayVerdict => ({
  verdict: "refuse",
  reason:
    (Object.hasOwn(REASONS, method) ? REASONS[method] : undefined) ?? `${method} is not open to scripts.`,
});
