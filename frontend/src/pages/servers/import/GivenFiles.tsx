/** The field of the import dialog for a config file that is chosen, dropped or pasted, and the files given so far. */

import { useRef, useState, type ClipboardEvent, type DragEvent, type ReactNode } from "react";

import { reveal } from "../../../ui/hidden";
import { Icon } from "../../../ui/Icon";
import { readTextFile, type TextFile } from "../../add/textFile";
import { GIVEN } from "../text";

interface Props {
  files: readonly TextFile[];
  onFiles: (files: TextFile[]) => void;
  /** The preview; files can be dropped on it as well. */
  children: ReactNode;
}

/** Takes config files by choosing, dropping or pasting them, or their text. */
export function GivenFiles({ files, onFiles, children }: Props) {
  const chooser = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const [over, setOver] = useState(false);

  async function take(list: FileList | null): Promise<void> {
    const chosen = [...(list ?? [])];
    const read = await Promise.all(chosen.map(readTextFile));
    setRefused(chosen.filter((_, index) => read[index] === null).map((file) => file.name));
    add(read.filter((file) => file !== null));
  }

  /** A file given again replaces the earlier one. */
  function add(more: readonly TextFile[]): void {
    const names = new Set(more.map((file) => file.name));
    if (more.length > 0) onFiles([...files.filter((file) => !names.has(file.name)), ...more]);
  }

  function pasted(event: ClipboardEvent): void {
    const { files: list } = event.clipboardData;
    const text = event.clipboardData.getData("text/plain");
    if (list.length > 0) void take(list);
    else if (text.trim()) add([{ name: GIVEN.pasted, text }]);
    else return;
    event.preventDefault();
  }

  return (
    <div
      className={over ? "drop-place over" : "drop-place"}
      onDragOver={(event: DragEvent) => (event.preventDefault(), setOver(true))}
      onDragLeave={(event: DragEvent) => event.currentTarget === event.target && setOver(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        void take(event.dataTransfer.files);
      }}
    >
      <div className="given-row">
        <button type="button" className="btn" onClick={() => chooser.current?.click()}>
          {GIVEN.choose}
        </button>
        <span className="field">
          <input aria-label={GIVEN.paste} placeholder={GIVEN.paste} value="" onChange={() => {}} onPaste={pasted} />
        </span>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label={GIVEN.file}
          accept=".json,.jsonc,.json5,.toml,.yaml,.yml,.txt"
          onChange={(event) => {
            void take(event.target.files);
            event.target.value = "";
          }}
        />
      </div>
      {files.length > 0 && (
        <ul className="given-files" aria-label={GIVEN.given}>
          {files.map((file) => (
            <li key={file.name} className="tag">
              {reveal(file.name)}
              <button
                type="button"
                className="plain-button"
                aria-label={GIVEN.remove(file.name)}
                onClick={() => onFiles(files.filter((one) => one !== file))}
              >
                <Icon name="close" small />
              </button>
            </li>
          ))}
        </ul>
      )}
      {refused.length > 0 && (
        <p className="error-text text-small" role="alert">
          {GIVEN.notText(refused)}
        </p>
      )}
      {children}
    </div>
  );
}
