// A script for browser_execute. It saves the colors of the visible texts, at most 3000, as downloads/styles.json, the
// input of scripts/contrast.mjs.
const saved = page.waitForEvent("download");
await page.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const cached = new Map();
  const toRgba = (color) => {
    if (!cached.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      cached.set(color, [red, green, blue, alpha / 255]);
    }
    return cached.get(color);
  };
  const selectorOf = (element) => {
    const parts = [];
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      if (/^[a-zA-Z][\w-]*$/.test(each.id)) return [`#${each.id}`, ...parts].join(" > ");
      const same = [...(each.parentElement?.children ?? [])].filter(
        (other) => other.localName === each.localName,
      );
      parts.unshift(
        same.length > 1 ? `${each.localName}:nth-of-type(${same.indexOf(each) + 1})` : each.localName,
      );
    }
    return ["body", ...parts].join(" > ");
  };
  const samples = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && samples.length < 3000) {
    const text = walker.currentNode.data.replace(/\s+/g, " ").trim();
    const element = walker.currentNode.parentElement;
    if (text === "" || !element?.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      continue;
    if (
      element.closest(
        "script, style, noscript, [disabled], [aria-disabled=true], [data-agent-session-overlay]",
      )
    )
      continue;
    const style = getComputedStyle(element);
    const backgrounds = [];
    let hasImage = false;
    let opacity = 1;
    for (let each = element; each; each = each.parentElement) {
      const own = getComputedStyle(each);
      opacity *= Number(own.opacity);
      const isCovered = backgrounds.at(-1)?.[3] === 1;
      if (!isCovered && own.backgroundImage !== "none") hasImage = true;
      const background = toRgba(own.backgroundColor);
      if (!isCovered && background[3] > 0) backgrounds.push(background);
    }
    const [red, green, blue, alpha] = toRgba(style.color);
    const color = [red, green, blue, alpha * opacity];
    const [sizePx, weight] = [Number.parseFloat(style.fontSize), Number(style.fontWeight)];
    samples.push({
      selector: selectorOf(element),
      text: text.slice(0, 120),
      color,
      backgrounds,
      sizePx,
      weight,
      hasImage,
    });
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ url: location.href, samples })]));
  link.download = "styles.json";
  link.click();
});
console.log(await (await saved).path());
