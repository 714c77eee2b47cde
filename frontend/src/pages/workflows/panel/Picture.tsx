/** A picture stored by a run, in the panel or at full size: formats that are shown. */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import { Dialog } from "../../../ui/Dialog";
import { PANEL } from "../text/panel";

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

/** A stored picture, as wide as the panel; a click opens it at full size. */
export function Picture({ run, artifact, label }: { run: string; artifact: string; label: string }) {
  const { data } = useOperation("workflow_artifact", { run, id: artifact });
  const [open, setOpen] = useState(false);
  if (!data || !SHOWN.test(data.media_type)) return null;
  const address = `data:${data.media_type};base64,${data.data}`;
  return (
    <>
      <button
        type="button"
        className="plain-button trace-picture"
        aria-label={`${PANEL.openPicture}: ${label}`}
        onClick={() => setOpen(true)}
      >
        <img src={address} alt={label} />
      </button>
      {open && (
        <Dialog title={label} className="picture-dialog" onClose={() => setOpen(false)}>
          <img className="full-picture" src={address} alt={label} />
        </Dialog>
      )}
    </>
  );
}
