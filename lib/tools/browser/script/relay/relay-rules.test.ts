import assert from "node:assert/strict";
import { test } from "node:test";
import type { HasId } from "./param-rules.ts";
import { admitCommand, type RelayScope } from "./relay-rules.ts";

/** The browser has shown the script these ids. */
const SHOWN: readonly [kind: string, id: string | number][] = [
  ["request", "1"],
  ["context", 1],
  ["object", "1.1.1"],
];
const hasId: HasId = (kind, id) => SHOWN.some(([shown, each]) => shown === kind && each === id);

type Row = [sentence: string, scope: RelayScope, method: string, params: Record<string, unknown>];

const PASSED: Row[] = [
  ["the page goes to an https address", "target", "Page.navigate", { url: "https://example.com/a" }],
  ["the page goes to an http address", "target", "Page.navigate", { url: "http://example.com" }],
  ["the page goes to about:blank", "target", "Page.navigate", { url: "about:blank" }],
  ["code runs in the page", "target", "Runtime.evaluate", { expression: "1" }],
  ["the mouse is moved", "target", "Input.dispatchMouseEvent", { type: "mouseMoved", x: 1, y: 1 }],
  ["text is dragged", "target", "Input.dispatchDragEvent", { data: { items: [], files: [] } }],
  ["a request is continued unchanged", "target", "Fetch.continueRequest", { requestId: "1" }],
  [
    "Playwright makes its own world",
    "target",
    "Page.createIsolatedWorld",
    { worldName: "__playwright_utility_world_1" },
  ],
  ["the version is read", "browser", "Browser.getVersion", {}],
  ["the session's cookies are read", "browser", "Storage.getCookies", {}],
];

const REFUSED: Row[] = [
  ["a file", "target", "Page.navigate", { url: "file:///etc/passwd" }],
  ["a file, in capitals", "target", "Page.navigate", { url: "FILE:///etc/passwd" }],
  ["a file, behind a blank", "target", "Page.navigate", { url: " file:///etc/passwd" }],
  ["a browser page", "target", "Page.navigate", { url: "chrome://version" }],
  ["a script as address", "target", "Page.navigate", { url: "javascript:alert(1)" }],
  ["a data address", "target", "Page.navigate", { url: "data:text/html,hi" }],
  ["the source of a file", "target", "Page.navigate", { url: "view-source:file:///etc/passwd" }],
  ["a blob", "target", "Page.navigate", { url: "blob:http://a/b" }],
  ["another about page", "target", "Page.navigate", { url: "about:gpu" }],
  ["DevTools' own page", "target", "Page.navigate", { url: "devtools://devtools/bundled/x.html" }],
  ["no address", "target", "Page.navigate", {}],
  ["an address that is not a string", "target", "Page.navigate", { url: ["file:///etc/passwd"] }],
  [
    "a request sent on to a file",
    "target",
    "Fetch.continueRequest",
    { requestId: "1", url: "file:///etc/passwd" },
  ],
  [
    "a request sent on to another site",
    "target",
    "Fetch.continueRequest",
    { requestId: "1", url: "https://b.example" },
  ],
  ["a file of the machine for an upload", "target", "DOM.setFileInputFiles", { files: ["/etc/passwd"] }],
  [
    "a file of the machine dragged in",
    "target",
    "Input.dispatchDragEvent",
    { data: { files: ["/etc/passwd"] } },
  ],
  ["a download folder for the page", "target", "Page.setDownloadBehavior", { behavior: "allow" }],
  ["a download folder for the browser", "browser", "Browser.setDownloadBehavior", { behavior: "allow" }],
  ["the end of the browser", "browser", "Browser.close", {}],
  ["a crash of the browser", "browser", "Browser.crash", {}],
  ["a crash of the page", "target", "Page.crash", {}],
  ["the end of the page", "target", "Page.close", {}],
  ["a permission for sites", "browser", "Browser.grantPermissions", { permissions: ["geolocation"] }],
  ["another context", "browser", "Target.createBrowserContext", {}],
  ["the list of pages", "browser", "Target.getTargets", {}],
  ["events about all pages", "browser", "Target.setDiscoverTargets", { discover: true }],
  ["attaching to another page", "browser", "Target.attachToTarget", { targetId: "x", flatten: true }],
  ["attaching to another page, from the page", "target", "Target.attachToTarget", { targetId: "x" }],
  ["attaching to the browser", "browser", "Target.attachToBrowserTarget", {}],
  ["DevTools for the page itself", "target", "Target.exposeDevToolsProtocol", { targetId: "x" }],
  ["a message that bypasses sessions", "target", "Target.sendMessageToTarget", { message: "{}" }],
  ["the browser's command line", "browser", "Browser.getBrowserCommandLine", {}],
  ["information about the machine", "browser", "SystemInfo.getInfo", {}],
  ["a trace of the browser", "browser", "Tracing.start", {}],
  ["cookies of all contexts", "target", "Network.getAllCookies", {}],
  [
    "a request that bypasses the page",
    "target",
    "Network.loadNetworkResource",
    { url: "file:///etc/passwd" },
  ],
  ["certificates ignored", "target", "Security.setIgnoreCertificateErrors", { ignore: true }],
  ["the page's policy switched off", "target", "Page.setBypassCSP", { enabled: true }],
  ["a debugger", "target", "Debugger.enable", {}],
  ["a world of the overlay's name", "target", "Page.createIsolatedWorld", { worldName: "overlay" }],
  ["a world without a name", "target", "Page.createIsolatedWorld", {}],
  [
    "a script in the overlay's world",
    "target",
    "Page.addScriptToEvaluateOnNewDocument",
    { source: "", worldName: "overlay" },
  ],
  [
    "a binding in the overlay's world",
    "target",
    "Runtime.addBinding",
    { name: "b", executionContextName: "overlay" },
  ],
  ["a context by its unique id", "target", "Runtime.evaluate", { expression: "1", uniqueContextId: "1.2" }],
  ["the console's helpers", "target", "Runtime.evaluate", { expression: "1", includeCommandLineAPI: true }],
  ["page commands at the browser", "browser", "Page.navigate", { url: "https://example.com" }],
  ["a name that every object has", "browser", "constructor", {}],
  ["a domain that every object has", "target", "constructor.name", {}],
  ["no method", "target", "", {}],
];

for (const [sentence, scope, method, params] of PASSED) {
  test(`passes: ${sentence}`, () => {
    assert.equal(admitCommand(scope, method, params, hasId).verdict, "forward");
  });
}

for (const [sentence, scope, method, params] of REFUSED) {
  test(`refuses: ${sentence}`, () => {
    const judged = admitCommand(scope, method, params, hasId);
    assert.equal(judged.verdict, "refuse");
    assert.match(judged.verdict === "refuse" ? judged.reason : "", /\w/);
  });
}
