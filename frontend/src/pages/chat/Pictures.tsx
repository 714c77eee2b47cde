/** Pictures in results of tools: size, approximate tokens, enlarge, copy. Their place is kept before they are
 * loaded. */

import { useState, type ReactNode } from "react";

import type { PictureData } from "../../api/types";
import { bytes, plural } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { reveal } from "../../ui/hidden";
import { inOneLine } from "./callText";
import type { CallView } from "./view";
import { TEXT } from "./text";

/** Pictures beside their facts; a click opens the whole. Their place is kept before they come. */
export function Pictures({ pictures, expected, call, about, foot, onRaw }: Props) {
  if (pictures.length === 0)
    return <div className="picture" style={{ minHeight: 120 * Math.min(expected, 2) }} aria-busy="true" />;
  return (
    <>
      {pictures.map((picture, index) => (
        <Picture
          key={index}
          picture={picture}
          call={call}
          about={about}
          foot={index === pictures.length - 1 && foot}
          onRaw={onRaw}
        />
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
  /** Content below the last picture. */
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
    <div className="picture">
      <button type="button" className="plain-button" aria-label={`${TEXT.open}: ${name}`} onClick={() => setOpen(true)}>
        <img
          className="image"
          src={addressOf(picture)}
          alt={name}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
        />
      </button>
      <div className="muted text-small">
        <p className="picture-about">{reveal(about) || described(call) || name}</p>
        <p className="num picture-facts">{facts(picture, size)}</p>
        <p className="row picture-links">
          <button type="button" className="plain-button link-button" onClick={() => setOpen(true)}>
            {TEXT.open}
          </button>
          {picture.mime === "image/png" && (
            <button type="button" className="plain-button link-button" onClick={() => void copyPicture(picture)}>
              {TEXT.copy}
            </button>
          )}
          <button type="button" className="plain-button link-button" onClick={onRaw}>
            {TEXT.rawJson}
          </button>
        </p>
        {foot}
      </div>
      {open && (
        <Dialog title={name} className="page-chat picture-dialog" onClose={() => setOpen(false)}>
          <div className="picture-full">
            <img className="fit-width" src={addressOf(picture)} alt={name} />
          </div>
        </Dialog>
      )}
    </div>
  );
}
