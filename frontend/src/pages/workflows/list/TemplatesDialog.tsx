/** The list of ready-made workflows, which come from the host. */

import { useOperation } from "../../../api/hooks";
import type { WorkflowTemplate } from "../../../api/types";
import { Dialog } from "../../../ui/Dialog";
import { ErrorBox } from "../../../ui/ErrorBox";
import { Loading } from "../../../ui/Loading";
import { CREATE, LIST } from "../text/list";

export function TemplatesDialog({ onClose, onUse }: { onClose: () => void; onUse: (one: WorkflowTemplate) => void }) {
  const { data, error, refetch } = useOperation("workflow_templates", {});
  return (
    <Dialog title={CREATE.template} onClose={onClose}>
      <div className="dialog-body">
        {error && <ErrorBox error={error} again={() => void refetch()} />}
        {!data && !error && <Loading rows={3} />}
        {data?.length === 0 && <p className="secondary">{CREATE.none}</p>}
        <ul className="template-list">
          {data?.map((template) => (
            <li key={template.name} className="row">
              <div className="grow">
                <b className="bold">{template.title}</b>
                <p className="secondary text-small">
                  {template.description} {LIST.steps(Object.keys(template.workflow.nodes ?? {}).length)}.
                </p>
              </div>
              <button type="button" className="btn small" onClick={() => onUse(template)}>
                {CREATE.use}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
