/** Features to disable: they send data to Chromium's vendor, show prompts, load extra pages, or make Chromium hang. */
const DISABLED_FEATURES = [
  "AcceptCHFrame",
  "AutoDeElevate",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "DialMediaRouteProvider",
  "GlobalMediaControls",
  "HttpsUpgrades",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
  "Prerender2",
  // With this feature, a dialog that opens during a same-site navigation cannot be answered and blocks the next page.
  "RenderDocument",
  "Translate",
];

const FIXED = [
  "--headless",
  "--no-startup-window",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-service-autorun",
  "--remote-debugging-pipe",
  "--window-size=1280,800",
  "--hide-scrollbars",
  "--mute-audio",
  // Makes pages see a mouse, although the machine has none.
  "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
  "--disable-back-forward-cache",
  "--disable-background-networking",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-extensions-with-background-pages",
  "--disable-component-update",
  "--disable-crash-reporter",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-field-trial-config",
  "--disable-hang-monitor",
  "--disable-popup-blocking",
  "--disable-prompt-on-repost",
  "--disable-quic",
  "--disable-renderer-backgrounding",
  "--disable-search-engine-choice-screen",
  "--disable-sync",
  "--deny-permission-prompts",
  "--enable-unsafe-swiftshader",
  "--force-color-profile=srgb",
  "--metrics-recording-only",
  "--no-pings",
  "--password-store=basic",
  "--use-mock-keychain",
  `--disable-features=${DISABLED_FEATURES.join(",")}`,
  // Without these two flags, WebRTC would bypass the proxy.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/** Returns the flags for a session's Chromium. It runs headless and reaches the network only through the proxy. */
export function chromiumFlags(options: {
  profileDir: string;
  proxyServer: string;
  /** Hash of the public key that the proxy uses for our own https origins. */
  ownKeyHash?: string | undefined;
  sandbox: boolean;
}): string[] {
  return [
    ...FIXED,
    `--user-data-dir=${options.profileDir}`,
    `--proxy-server=${options.proxyServer}`,
    // Without this, loopback addresses would bypass the proxy.
    "--proxy-bypass-list=<-loopback>",
    ...acceptOwnKey(options.ownKeyHash),
    ...(options.sandbox ? [] : ["--no-sandbox"]),
  ];
}

/** Returns the flag that makes Chromium accept the proxy's key for our own https origins. Empty without a key. */
export const acceptOwnKey = (keyHash: string | undefined): string[] =>
  keyHash === undefined ? [] : [`--ignore-certificate-errors-spki-list=${keyHash}`];
