import { useState, type ReactNode } from "react";

import type { PictureData } from "../../api/types";
import { bytes, plural } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { reveal } from "../../ui/hidden";
import { inOneLine } from "./callWords";
import type { CallView } from "./view";
import { WORDS } from "./words";

/** Pictures beside their facts; a click opens the whole. Their place is kept before they come. */
export function Pictures({ pictures, expected, call, about, foot, onRaw }: Props) {
  if (pictures.length === 0) return <div className="pic" style={{ minHeight: 120 * Math.min(expected, 2) }} aria-busy="true" />;
  return (
    <>
      {pictures.map((picture, index) => (
        <Picture key={index} picture={picture} call={call} about={about} foot={index === pictures.length - 1 && foot} onRaw={onRaw} />
      ))}
    </>
  );
}

interface Props {
  pictures: readonly PictureData[];
  expected: number;
  call: CallView;
  /** What the tool says of it; what it was asked for, where that is nothing. */
  about: string;
  /** What else stands there, under the last one. */
  foot: ReactNode;
  onRaw: () => void;
}

export function addressOf(picture: PictureData): string {
  return `data:${picture.mime};base64,${picture.data}`;
}

function facts(picture: PictureData, size: { width: number; height: number } | null): string {
  const weight = bytes((picture.data.length * 3) / 4);
  if (!size) return weight;
  return `${size.width} × ${size.height} · ${weight} · ≈ ${plural(pictureTokens(size.width, size.height), "token")}`;
}

/** What was asked for, where it says something. */
function described(call: CallView): string {
  return Object.values(call.arguments).some((value) => typeof value === "string") ? inOneLine(call.arguments) : "";
}

async function copyPicture(picture: PictureData): Promise<void> {
  const blob = new Blob([Uint8Array.from(atob(picture.data), (one) => one.charCodeAt(0))], { type: picture.mime });
  await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
}

const LONGEST_EDGE = 1568; // Larger ones are made smaller before a model looks at them.
const PIXELS_A_TOKEN = 750;

/** About what a picture costs in a prompt; vendors differ. */
export function pictureTokens(width: number, height: number): number {
  const scale = Math.min(1, LONGEST_EDGE / Math.max(width, height, 1));
  return Math.ceil((width * scale * (height * scale)) / PIXELS_A_TOKEN);
}

type PictureProps = Pick<Props, "call" | "about" | "foot" | "onRaw"> & { picture: PictureData };

function Picture({ picture, call, about, foot, onRaw }: PictureProps) {
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const [open, setOpen] = useState(false);
  const name = `Picture from ${call.server ?? call.name}`;
  return (
    <div className="pic">
      <button type="button" className="plain" aria-label={`${WORDS.open}: ${name}`} onClick={() => setOpen(true)}>
        <img
          className="shot"
          src={addressOf(picture)}
          alt={name}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
        />
      </button>
      <div className="m t12">
        <p style={{ color: "var(--ink-2)", overflowWrap: "anywhere" }}>{reveal(about) || described(call) || name}</p>
        <p className="num" style={{ minHeight: "1.45em" }}>{facts(picture, size)}</p>
        <p className="row" style={{ gap: 12, marginTop: 8 }}>
          <button type="button" className="plain linkish" onClick={() => setOpen(true)}>{WORDS.open}</button>
          {picture.mime === "image/png" && <button type="button" className="plain linkish" onClick={() => void copyPicture(picture)}>{WORDS.copy}</button>}
          <button type="button" className="plain linkish" onClick={onRaw}>{WORDS.rawJson}</button>
        </p>
        {foot}
      </div>
      {open && (
        <Dialog title={name} className="p-chat wide" onClose={() => setOpen(false)}>
          <div style={{ padding: 16 }}>
            <img src={addressOf(picture)} alt={name} style={{ maxWidth: "100%" }} />
          </div>
        </Dialog>
      )}
    </div>
  );
}
