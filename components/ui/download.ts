/** Lets the browser save a text as a file. */
export function download(name: string, text: string, mediaType = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
