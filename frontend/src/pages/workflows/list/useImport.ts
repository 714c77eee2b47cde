/** Importing a workflow from a file that the user chooses. */

import { run } from "../../../api/client";
import { ApiError, sentence } from "../../../api/errors";
import { notify } from "../../../app/notices";
import { navigate } from "../../../app/router";
import { LIST } from "../text/list";
import { refreshList } from "./workflowActions";

const LARGEST = 5_000_000;

/** Ask for a file and import it; `onTaken` gets its content if its name is already used. */
export function chooseFile(onTaken: (file: Record<string, unknown>) => void): void {
  const input = Object.assign(document.createElement("input"), { type: "file", accept: ".json,application/json" });
  input.onchange = () => void importFile(input.files?.[0], onTaken);
  input.click();
}

export async function importFile(file: File | undefined, onTaken: (file: Record<string, unknown>) => void) {
  if (!file) return;
  try {
    if (file.size > LARGEST) throw new Error(LIST.tooLarge);
    await importText(await file.text(), onTaken);
  } catch (error) {
    notify(sentence(error));
  }
}

async function importText(text: string, onTaken: (file: Record<string, unknown>) => void): Promise<void> {
  try {
    const shown = await run("workflow_import", { text });
    refreshList();
    notify(LIST.imported(shown.name));
    navigate(`/workflows/${encodeURIComponent(shown.name)}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "conflict") throw error;
    onTaken(JSON.parse(text) as Record<string, unknown>);
  }
}
