/** Pictures that are attached: accepted formats, and from which size and width they are made smaller, and to what. */

export interface Attached {
  id: number;
  data: string;
  mime: string;
  before: number;
  after: number;
}

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LONGEST_SIDE = 1568; // Beyond this vendors make it smaller themselves.
const LARGE = 500_000;
let made = 0;

export function isPicture(file: File): boolean {
  return KINDS.includes(file.type);
}

export async function attach(file: File): Promise<Attached> {
  const small = file.size > LARGE || (await tooWide(file)) ? await drawnSmaller(file) : file;
  const kept = small.size < file.size ? small : file;
  return { id: ++made, data: await base64(kept), mime: kept.type, before: file.size, after: kept.size };
}

async function tooWide(file: File): Promise<boolean> {
  const bitmap = await createImageBitmap(file);
  const wide = Math.max(bitmap.width, bitmap.height) > LONGEST_SIDE;
  bitmap.close();
  return wide;
}

async function drawnSmaller(file: File): Promise<Blob> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const draw = (kind: string) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, kind, 0.85));
  return (await draw("image/webp")) ?? (await draw("image/png")) ?? file;
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
