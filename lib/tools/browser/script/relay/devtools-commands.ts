import {
  fields,
  flag,
  forbidden,
  idOf,
  json,
  listOf,
  mapOf,
  number,
  type Params,
  Refusal,
  type Rule,
  text,
  textThat,
} from "./param-rules.ts";

/**
 * The DevTools commands that a script may send, each with the parameters that it may have. They are the commands and
 * parameters of Playwright's client. Other commands are refused, and other parameters are not sent to the browser. An
 * id must be one that the browser has shown to the script.
 */

/**
 * Name prefix of the isolated worlds and bindings that the script's Playwright creates. The script does not see other
 * isolated worlds, such as the world of the service's overlay.
 */
const OWN_PREFIX = "__playwright";

/** Whether a script may see and create an isolated world or binding of this name. */
export const isOwnName = (name: unknown): boolean => typeof name === "string" && name.startsWith(OWN_PREFIX);

/** Whether a script may navigate the page to a URL: only http, https and about:blank are allowed. */
function isOpenableUrl(url: string): boolean {
  if (url === "about:blank") return true;
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === "http:" || protocol === "https:";
}

const refuseAddress = (url: unknown) =>
  `"${typeof url === "string" ? url.slice(0, 200) : typeof url}" was refused: a script may open http(s) addresses and about:blank only.`;

const OTHER_WORLD = () => "Scripts make no worlds of other names.";
const OTHER_BINDING = () => "Scripts make no bindings of other names.";

/** A drag with files of the machine is refused. An empty list is not sent on. */
const noFiles: Rule = {
  read(value) {
    if (Array.isArray(value) && value.length === 0) return undefined;
    throw new Refusal("Files of the machine cannot be dragged into the page.");
  },
};

/** A parameter whose value the service decides. */
const always = (value: unknown): Rule => ({ isRequired: true, read: () => value });

const context = idOf("context", "number");
const object = idOf("object");
const frame = idOf("frame");
const request = idOf("request");
const stream = idOf("stream");
const session = idOf("session");
const uniqueContextId = forbidden("Contexts are named by their contextId.");
const headers = listOf(fields({ name: text, value: text }));
const rect = { x: number, y: number, width: number, height: number };
const modifiers = number;
const enabled = { enabled: flag };
const brands = listOf(fields({ brand: text, version: text }));

/** Commands to the browser as a whole. The relay answers the `local` ones itself. */
export const BROWSER_COMMANDS: Record<string, { verdict: "forward" | "local"; params: Params }> = {
  "Browser.getVersion": { verdict: "forward", params: {} },
  "Target.setAutoAttach": { verdict: "local", params: {} },
  "Target.getTargetInfo": { verdict: "local", params: {} },
  "Target.createTarget": { verdict: "local", params: {} },
  "Target.closeTarget": { verdict: "local", params: { targetId: idOf("target") } },
  "Target.detachFromTarget": { verdict: "local", params: { sessionId: session } },
  "Storage.getCookies": { verdict: "forward", params: {} },
  "Storage.setCookies": {
    verdict: "forward",
    params: {
      cookies: listOf(
        fields({
          name: text,
          value: text,
          url: text,
          domain: text,
          path: text,
          secure: flag,
          httpOnly: flag,
          sameSite: text,
          expires: number,
          partitionKey: fields({ topLevelSite: text, hasCrossSiteAncestor: flag }),
        }),
      ),
    },
  },
  "Storage.clearCookies": { verdict: "forward", params: {} },
};

/** Commands to a page, frame or worker. */
export const TARGET_COMMANDS: Record<string, Params> = {
  "Accessibility.getFullAXTree": {},
  "DOM.describeNode": { objectId: object },
  "DOM.getBoxModel": { objectId: object },
  "DOM.getContentQuads": { objectId: object },
  "DOM.getDocument": { depth: number, pierce: flag },
  "DOM.getFrameOwner": { frameId: frame },
  "DOM.getNodeForLocation": { x: number, y: number },
  "DOM.resolveNode": { backendNodeId: idOf("node", "number"), executionContextId: context },
  "DOM.scrollIntoViewIfNeeded": { objectId: object, rect: fields(rect) },
  "DOMSnapshot.captureSnapshot": { computedStyles: listOf(text), includeDOMRects: flag },
  "Emulation.setDefaultBackgroundColorOverride": {
    color: fields({ r: number, g: number, b: number, a: number }),
  },
  "Emulation.setDeviceMetricsOverride": {
    width: number,
    height: number,
    deviceScaleFactor: number,
    mobile: flag,
    screenWidth: number,
    screenHeight: number,
    screenOrientation: fields({ type: text, angle: number }),
    dontSetVisibleSize: flag,
  },
  "Emulation.setEmulatedMedia": { media: text, features: listOf(fields({ name: text, value: text })) },
  "Emulation.setFocusEmulationEnabled": enabled,
  "Emulation.setGeolocationOverride": { latitude: number, longitude: number, accuracy: number },
  "Emulation.setLocaleOverride": { locale: text },
  "Emulation.setScriptExecutionDisabled": { value: flag },
  "Emulation.setTimezoneOverride": { timezoneId: text },
  "Emulation.setTouchEmulationEnabled": enabled,
  "Emulation.setUserAgentOverride": {
    userAgent: text,
    acceptLanguage: text,
    userAgentMetadata: fields({
      brands,
      fullVersionList: brands,
      fullVersion: text,
      platform: text,
      platformVersion: text,
      architecture: text,
      model: text,
      mobile: flag,
    }),
  },
  "Fetch.enable": {
    handleAuthRequests: flag,
    patterns: listOf(fields({ urlPattern: text, requestStage: text })),
  },
  "Fetch.disable": {},
  "Fetch.continueRequest": {
    requestId: request,
    // The service has checked the URL of the request before the script sees it, so the script must not change the URL.
    url: forbidden("A request cannot be sent on to another address."),
    method: text,
    postData: text,
    headers,
  },
  "Fetch.continueWithAuth": {
    requestId: request,
    authChallengeResponse: fields({ response: text, username: text, password: text }),
  },
  "Fetch.failRequest": { requestId: request, errorReason: text },
  "Fetch.fulfillRequest": {
    requestId: request,
    responseCode: number,
    responsePhrase: text,
    responseHeaders: headers,
    body: text,
  },
  "IO.read": { handle: stream },
  "IO.close": { handle: stream },
  "Input.dispatchDragEvent": {
    type: text,
    x: number,
    y: number,
    modifiers,
    data: fields({
      items: listOf(fields({ mimeType: text, data: text, title: text, baseURL: text })),
      files: noFiles,
      dragOperationsMask: number,
    }),
  },
  "Input.dispatchKeyEvent": {
    type: text,
    modifiers,
    windowsVirtualKeyCode: number,
    code: text,
    commands: listOf(text),
    key: text,
    text,
    unmodifiedText: text,
    autoRepeat: flag,
    location: number,
    isKeypad: flag,
  },
  "Input.dispatchMouseEvent": {
    type: text,
    x: number,
    y: number,
    modifiers,
    button: text,
    buttons: number,
    clickCount: number,
    force: number,
    deltaX: number,
    deltaY: number,
  },
  "Input.dispatchTouchEvent": {
    type: text,
    modifiers,
    touchPoints: listOf(fields({ x: number, y: number })),
  },
  "Input.insertText": { text },
  "Input.setInterceptDrags": enabled,
  "Inspector.enable": {},
  "Log.enable": {},
  "Network.enable": {},
  "Network.emulateNetworkConditions": {
    offline: flag,
    latency: number,
    downloadThroughput: number,
    uploadThroughput: number,
  },
  "Network.getResponseBody": { requestId: request },
  "Network.setBypassServiceWorker": { bypass: flag },
  "Network.setCacheDisabled": { cacheDisabled: flag },
  "Network.setExtraHTTPHeaders": { headers: mapOf(text) },
  "Page.enable": {},
  "Page.addScriptToEvaluateOnNewDocument": {
    source: text,
    // An empty name means the page's own world.
    worldName: textThat((name) => name === "" || isOwnName(name), OTHER_WORLD),
    runImmediately: flag,
  },
  "Page.bringToFront": {},
  "Page.captureScreenshot": {
    format: text,
    quality: number,
    clip: fields({ ...rect, scale: number }),
    captureBeyondViewport: flag,
  },
  "Page.createIsolatedWorld": {
    frameId: frame,
    worldName: textThat(isOwnName, OTHER_WORLD, true),
    grantUniveralAccess: flag,
  },
  "Page.getFrameTree": {},
  "Page.getLayoutMetrics": {},
  "Page.getNavigationHistory": {},
  "Page.handleJavaScriptDialog": { accept: flag, promptText: text },
  "Page.navigate": {
    url: textThat(isOpenableUrl, refuseAddress, true),
    referrer: text,
    referrerPolicy: text,
    frameId: frame,
  },
  "Page.navigateToHistoryEntry": { entryId: idOf("history entry", "number") },
  "Page.printToPDF": {
    transferMode: always("ReturnAsStream"),
    landscape: flag,
    displayHeaderFooter: flag,
    headerTemplate: text,
    footerTemplate: text,
    printBackground: flag,
    scale: number,
    paperWidth: number,
    paperHeight: number,
    marginTop: number,
    marginBottom: number,
    marginLeft: number,
    marginRight: number,
    pageRanges: text,
    preferCSSPageSize: flag,
    generateTaggedPDF: flag,
    generateDocumentOutline: flag,
  },
  "Page.reload": {},
  "Page.removeScriptToEvaluateOnNewDocument": { identifier: idOf("init script") },
  "Page.setInterceptFileChooserDialog": enabled,
  "Page.setLifecycleEventsEnabled": enabled,
  // A binding without a world exists in all worlds, so its name must not be one of the service's bindings.
  "Runtime.addBinding": {
    name: textThat(isOwnName, OTHER_BINDING, true),
    executionContextName: textThat(isOwnName, () => "Scripts bind to no worlds of other names."),
  },
  "Runtime.callFunctionOn": {
    functionDeclaration: text,
    objectId: object,
    executionContextId: context,
    uniqueContextId,
    arguments: listOf(fields({ value: json, unserializableValue: text, objectId: object })),
    returnByValue: flag,
    awaitPromise: flag,
    userGesture: flag,
  },
  "Runtime.enable": {},
  "Runtime.evaluate": {
    expression: text,
    contextId: context,
    uniqueContextId,
    // The helpers of the DevTools console, such as `getEventListeners` and `queryObjects`, can reach other worlds.
    includeCommandLineAPI: forbidden("The console's own helpers are not open to scripts."),
    returnByValue: flag,
    awaitPromise: flag,
    userGesture: flag,
  },
  "Runtime.getProperties": { objectId: object, ownProperties: flag },
  "Runtime.releaseObject": { objectId: object },
  "Runtime.runIfWaitingForDebugger": {},
  "Target.detachFromTarget": { sessionId: session },
  // The relay supports only flat sessions.
  "Target.setAutoAttach": { autoAttach: flag, waitForDebuggerOnStart: flag, flatten: always(true) },
};
