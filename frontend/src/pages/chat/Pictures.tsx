import { useState } from "react";

import type { PictureData } from "../../api/types";
import { bytes } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { inOneLine } from "./callWords";
import type { CallView } from "./view";
import { WORDS } from "./words";

/** Pictures beside their facts; a click opens the whole. Their place is kept before they come. */
export function Pictures({ pictures, expected, call, onRaw }: Props) {
  if (pictures.length === 0) return <div className="pic" style={{ minHeight: 120 * Math.min(expected, 2) }} aria-busy="true" />;
  return (
    <>
      {pictures.map((picture, index) => (
        <Picture key={index} picture={picture} call={call} onRaw={onRaw} />
      ))}
    </>
  );
}

interface Props {
  pictures: readonly PictureData[];
  expected: number;
  call: CallView;
  onRaw: () => void;
}

export function addressOf(picture: PictureData): string {
  return `data:${picture.mime};base64,${picture.data}`;
}

/** What was asked for, where it says something. */
function described(call: CallView): string {
  return Object.values(call.arguments).some((value) => typeof value === "string") ? inOneLine(call.arguments) : "";
}

async function copyPicture(picture: PictureData): Promise<void> {
  const blob = new Blob([Uint8Array.from(atob(picture.data), (one) => one.charCodeAt(0))], { type: picture.mime });
  await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
}

function Picture({ picture, call, onRaw }: { picture: PictureData; call: CallView; onRaw: () => void }) {
  const [size, setSize] = useState("");
  const [open, setOpen] = useState(false);
  const name = `Picture from ${call.server ?? call.name}`;
  return (
    <div className="pic">
      <button type="button" className="plain" aria-label={`${WORDS.open}: ${name}`} onClick={() => setOpen(true)}>
        <img
          className="shot"
          src={addressOf(picture)}
          alt={name}
          onLoad={(event) => setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight} · `)}
        />
      </button>
      <div className="m t12">
        <p style={{ color: "var(--ink-2)" }}>{described(call) || name}</p>
        <p className="num">{size}{bytes((picture.data.length * 3) / 4)}</p>
        <p className="row" style={{ gap: 12, marginTop: 8 }}>
          <button type="button" className="plain linkish" onClick={() => setOpen(true)}>{WORDS.open}</button>
          {picture.mime === "image/png" && <button type="button" className="plain linkish" onClick={() => void copyPicture(picture)}>{WORDS.copy}</button>}
          <button type="button" className="plain linkish" onClick={onRaw}>{WORDS.rawJson}</button>
        </p>
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
