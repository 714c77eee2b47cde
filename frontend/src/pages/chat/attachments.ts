/** Files and pictures that are attached to a message: what is accepted and why not, how many, the longest text, and
 * from which size and width pictures are made smaller, and to what. */

import type { PictureData } from "../../api/types";
import { bytes, characters } from "../../ui/amounts";
import { TEXT } from "./text";

export interface Attached {
  id: number;
  data: string;
  mime: string;
  before: number;
  after: number;
}

export interface AttachedText {
  id: number;
  name: string;
  text: string;
  bytes: number;
}

/** What can be attached, or why a file cannot. */
export type Taken = { picture: Attached } | { file: AttachedText } | { refused: string };

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LONGEST_SIDE = 1568; // Beyond this vendors make it smaller themselves.
const LARGE = 500_000;
/** Of each kind, as the host takes them. */
export const MOST = 8;
const LONGEST_TEXT = 1_000_000;
const BYTES_A_CHARACTER = 4; // The most that UTF-8 needs.
let made = 0;

/** Look at a file: a picture by its type, text by its bytes. */
export async function taken(file: File): Promise<Taken> {
  if (KINDS.includes(file.type)) {
    return attach(file).then(
      (picture) => ({ picture }),
      () => ({ refused: TEXT.pictureBroken(file.name) }),
    );
  }
  if (file.size === 0) return { refused: TEXT.fileEmpty(file.name) };
  if (await isPdf(file)) return { refused: TEXT.filePdf(file.name) };
  const tooLong = { refused: TEXT.fileTooLong(file.name, bytes(file.size)) };
  if (file.size > LONGEST_TEXT * BYTES_A_CHARACTER) return (await isText(file)) ? tooLong : notText(file);
  const text = decoded(await file.arrayBuffer());
  if (text === null) return notText(file);
  return characters(text) > LONGEST_TEXT ? tooLong : { file: attachedText(file.name, text) };
}

export function attachedText(name: string, text: string): AttachedText {
  return { id: ++made, name, text, bytes: new Blob([text]).size };
}

/** A picture that was sent before. */
export function attachedPicture({ data, mime }: PictureData): Attached {
  const size = Math.round((data.length * 3) / 4);
  return { id: ++made, data, mime, before: size, after: size };
}

function notText(file: File): Taken {
  return { refused: TEXT.fileNotText(file.name) };
}

async function isPdf(file: File): Promise<boolean> {
  return (await file.slice(0, 5).text()) === "%PDF-";
}

/** By its beginning, which may end inside a character. */
async function isText(file: File): Promise<boolean> {
  const start = await file.slice(0, LARGE).arrayBuffer();
  return [0, 1, 2, 3].some((cut) => decoded(start.slice(0, start.byteLength - cut)) !== null);
}

/** The text of these bytes; null if they are none in UTF-8. */
function decoded(buffer: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(buffer);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

async function attach(file: File): Promise<Attached> {
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
