const TEXT = "; charset=utf-8";

const TYPES: Record<string, string> = {
  html: `text/html${TEXT}`,
  htm: `text/html${TEXT}`,
  css: `text/css${TEXT}`,
  js: `text/javascript${TEXT}`,
  mjs: `text/javascript${TEXT}`,
  json: `application/json${TEXT}`,
  map: `application/json${TEXT}`,
  webmanifest: `application/manifest+json${TEXT}`,
  xml: `application/xml${TEXT}`,
  txt: `text/plain${TEXT}`,
  md: `text/markdown${TEXT}`,
  csv: `text/csv${TEXT}`,
  vtt: `text/vtt${TEXT}`,
  svg: `image/svg+xml${TEXT}`,
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  woff: "font/woff",
  woff2: "font/woff2",
  ttf: "font/ttf",
  otf: "font/otf",
  mp4: "video/mp4",
  m4v: "video/mp4",
  webm: "video/webm",
  ogv: "video/ogg",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  ogg: "audio/ogg",
  wav: "audio/wav",
  wasm: "application/wasm",
  pdf: "application/pdf",
  zip: "application/zip",
  gltf: `model/gltf+json${TEXT}`,
  glb: "model/gltf-binary",
};

/**
 * Returns the content type of a file, by the extension of its name. Text types have the charset UTF-8. The type for an
 * unknown extension is `application/octet-stream`.
 */
export function mediaTypeOf(path: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return (Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined) ?? "application/octet-stream";
}

/** Whether compression usually makes files of this type smaller. */
export const isCompressible = (mediaType: string): boolean =>
  mediaType.endsWith(TEXT) || /^(font\/(ttf|otf)|application\/wasm|image\/bmp)$/.test(mediaType);
