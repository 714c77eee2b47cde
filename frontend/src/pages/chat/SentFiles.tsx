/** Text files of a message that was sent: each with its length and a button that opens its text. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import type { FileInfo } from "../../api/types";
import { plural } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { LongText } from "../../ui/LongText";
import { useActions } from "./actions";
import { TEXT } from "./text";

export function SentFiles({ files }: { files: readonly FileInfo[] }) {
  const [open, setOpen] = useState<FileInfo | null>(null);
  if (files.length === 0) return null;
  return (
    <div className="sent-files">
      {files.map((file) => (
        <div key={file.key}>
          <button
            type="button"
            className="file-chip"
            aria-label={TEXT.openFile(file.name)}
            onClick={() => setOpen(file)}
          >
            <Icon name="file" small />
            <span className="ellipsis" title={file.name} dir="auto">
              {file.name}
            </span>
            <span className="muted text-small num">{plural(file.chars, "character")}</span>
          </button>
          {file.shown < file.chars && <p className="muted text-small">{TEXT.fileShown(file.shown, file.chars)}</p>}
        </div>
      ))}
      {open && <FileDialog file={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function FileDialog({ file, onClose }: { file: FileInfo; onClose: () => void }) {
  const { chat } = useActions();
  const { data, error, refetch } = useOperation("chat_file", { chat, key: file.key });
  return (
    <Dialog title={file.name} className="page-chat file-dialog" onClose={onClose}>
      <div className="file-text">
        {error ? (
          <ErrorBox error={error} again={() => void refetch()} />
        ) : data ? (
          <LongText text={data.text} label={file.name} />
        ) : (
          <Loading rows={5} />
        )}
      </div>
    </Dialog>
  );
}
