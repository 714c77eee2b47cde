"""The RPCs against real programs, called as a program in another language would."""

from __future__ import annotations

import concurrent.futures
import subprocess
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.bundled.desktop.conftest import Programs
from tests.bundled.desktop.grpc.conftest import Client, Failed, until
from toolcrib.bundled.desktop.grpc import methods
from toolcrib.bundled.desktop.grpc.schema import service, types, v1


def failure(call: Any, **fields: Any) -> Failed:
    with pytest.raises(Failed) as caught:
        call(**fields)
    return caught.value


def test_a_form_is_filled_in_by_names(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--entry", "--title=Form", stdout=subprocess.PIPE)
    parent = f"applications/{process.pid}"
    field = client.find(process.pid, role="textbox")
    written = client.WriteElementValue(parent=parent, element_id=field.element_id, value="Žofie")
    assert written.success
    assert written.element.text == "Žofie"
    assert client.GetElement(name=f"{parent}/elements/{field.element_id}").text == "Žofie"
    buttons = types.ElementSelector(role="button")
    ambiguous = failure(client.ClickElement, parent=parent, selector=buttons)
    assert ambiguous.info.reason == "AMBIGUOUS_ELEMENT_MATCH"
    clicked = client.ClickElement(parent=parent, selector=types.ElementSelector(text="OK"))
    assert clicked.success
    output, _ = process.communicate(timeout=20)
    assert output.decode().strip() == "Žofie"
    gone = failure(client.GetElement, name=f"{parent}/elements/{field.element_id}")
    assert (gone.code, gone.info.reason, gone.info.domain) == (
        grpc.StatusCode.NOT_FOUND,
        "ELEMENT_NOT_FOUND",
        "macosusesdk.com",
    )


def test_windows_are_listed_moved_and_closed(client: Client, programs: Programs) -> None:
    process = programs.start("xterm", "-T", "by grpc", "-e", "sleep", "60")
    parent = f"applications/{process.pid}"
    [window] = until(lambda: client.ListWindows(parent=parent).windows)
    assert (window.title, window.bundle_id, window.visible) == ("by grpc", "XTerm", True)
    assert [each.pid for each in client.ListApplications(filter=f"pid={process.pid}").applications] == [
        process.pid
    ]
    moved = client.MoveWindow(name=window.name, x=120, y=80)
    assert (moved.bounds.x, moved.bounds.y) == (pytest.approx(120, abs=2), pytest.approx(80, abs=2))
    client.FocusWindow(name=window.name)
    assert [each.name for each in client.ListWindows(filter="focused=true").windows] == [window.name]
    assert client.GetWindowState(name=f"{window.name}/state").focused
    assert not client.MinimizeWindow(name=window.name).visible
    assert client.RestoreWindow(name=window.name).visible
    only = client.GetWindow(name=window.name, read_mask={"paths": ["title"]})
    assert only == v1.Window(title="by grpc")
    assert failure(client.MoveWindow, name=window.name, x=float("nan")).info.reason == "OUT_OF_RANGE"
    assert client.CloseWindow(name=window.name).success
    assert failure(client.GetWindow, name=window.name).info.reason == "WINDOW_NOT_FOUND"
    assert failure(client.GetApplication, name=parent).info.reason == "APPLICATION_NOT_FOUND"


def test_text_keys_and_clicks_arrive_and_what_was_typed_is_not_recorded(
    client: Client, programs: Programs
) -> None:
    process = programs.start("zenity", "--entry", "--title=Typing", stdout=subprocess.PIPE)
    parent = f"applications/{process.pid}"
    field = client.find(process.pid, role="textbox")
    centre = types.Point(x=field.x + field.width / 2, y=field.y + field.height / 2)
    for action in (
        v1.InputAction(click=v1.MouseClick(position=centre)),
        v1.InputAction(type_text=v1.TextInput(text="wrong")),
        v1.InputAction(press_key=v1.KeyPress(key="a", modifiers=[v1.KeyPress.MODIFIER_CONTROL])),
        v1.InputAction(type_text=v1.TextInput(text="日本 ok")),
        v1.InputAction(press_key=v1.KeyPress(key="return")),
    ):
        made = client.CreateInput(parent=parent, input=v1.Input(action=action))
        assert made.state == v1.Input.STATE_COMPLETED
    output, _ = process.communicate(timeout=20)
    assert output.decode().strip() == "日本 ok"
    recorded = client.ListInputs(parent=parent).inputs
    assert [each.action.WhichOneof("input_type") for each in recorded][-1] == "press_key"
    assert recorded[3].action.type_text.text == "(5 characters)"
    assert client.GetInput(name=recorded[0].name) == recorded[0]
    gesture = v1.Input(action=v1.InputAction(gesture=v1.Gesture(center=centre)))
    assert failure(client.CreateInput, input=gesture).code == grpc.StatusCode.UNIMPLEMENTED


def test_a_click_that_another_program_would_receive_is_refused(client: Client, programs: Programs) -> None:
    below = programs.start("xterm", "-T", "below", "-geometry", "40x10+0+0", "-e", "sleep", "60")
    [window] = until(lambda: client.ListWindows(parent=f"applications/{below.pid}").windows)
    outside = types.Point(x=window.bounds.x + window.bounds.width + 200, y=window.bounds.y + 300)
    click = v1.Input(action=v1.InputAction(click=v1.MouseClick(position=outside)))
    refused = failure(client.CreateInput, parent=f"applications/{below.pid}", input=click)
    assert (refused.code, refused.info.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CLICK_REFUSED")


def test_the_clipboard_is_written_read_and_cleared(client: Client) -> None:
    text = v1.ClipboardContent(type=v1.ContentType.CONTENT_TYPE_TEXT, text="Grüße")
    assert client.WriteClipboard(content=text).success
    read = client.GetClipboard(name="clipboard")
    assert read.content == text
    assert list(read.available_types) == [v1.ContentType.CONTENT_TYPE_TEXT]
    until(lambda: "Grüße" in [each.content.text for each in _history(client)])
    files = v1.ClipboardContent(
        type=v1.ContentType.CONTENT_TYPE_FILES, files=v1.FilePaths(paths=["/tmp/a b.txt"])
    )
    client.WriteClipboard(content=files)
    assert client.GetClipboard(name="clipboard").content == files
    assert client.ClearClipboard().success
    assert not client.GetClipboard(name="clipboard").HasField("content")
    assert failure(client.GetClipboard, name="other").info.reason == "INVALID_RESOURCE_NAME"


def _history(client: Client) -> Any:
    return client.GetClipboardHistory(name="clipboard/history").entries


def test_screenshots_have_the_asked_format_and_place(client: Client, programs: Programs) -> None:
    process = programs.start("xterm", "-T", "shot", "-e", "sleep", "60")
    [window] = until(lambda: client.ListWindows(parent=f"applications/{process.pid}").windows)
    whole = client.CaptureScreenshot()
    assert (whole.width, whole.height) == (1280, 800)
    assert whole.image_data.startswith(b"\x89PNG")
    one = client.CaptureWindowScreenshot(window=window.name, format=v1.ImageFormat.IMAGE_FORMAT_JPEG)
    assert (one.width, one.height) == (window.bounds.width, window.bounds.height)
    assert one.image_data.startswith(b"\xff\xd8")
    button = client.find(
        programs.start("zenity", "--info", "--text=Text", "--ok-label=Invoice").pid, text="Invoice"
    )
    read = client.CaptureElementScreenshot(element_id=button.element_id, include_ocr_text=True)
    assert read.ocr_text == "Invoice"
    region = types.Region(x=10, y=20, width=30, height=40)
    part = client.CaptureRegionScreenshot(region=region, format=v1.ImageFormat.IMAGE_FORMAT_TIFF)
    assert (part.region, part.width, part.height) == (region, 30, 40)
    [display] = client.ListDisplays().displays
    assert client.GetDisplay(name=display.name) == display
    assert failure(client.CaptureScreenshot, display=77).info.reason == "DISPLAY_NOT_FOUND"
    assert failure(client.CaptureRegionScreenshot).info.reason == "EMPTY_FIELD"


def test_a_wait_ends_when_the_element_comes_and_can_be_cancelled(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?")
    parent = f"applications/{process.pid}"
    yes = client.find(process.pid, text="Yes")
    assert "Click" in client.GetElementActions(name=f"{parent}/elements/{yes.element_id}").actions
    enabled = client.WaitElementState(
        parent=parent, element_id=yes.element_id, condition=v1.StateCondition(enabled=True)
    )
    assert client.finish(enabled).response.Is(v1.WaitElementStateResponse.DESCRIPTOR)
    never = types.ElementSelector(text="never there")
    short = client.finish(client.WaitElement(parent=parent, selector=never, timeout=0.3))
    assert short.error.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
    waiting = client.WaitElement(parent=parent, selector=never, timeout=300)
    assert not client.WaitOperation(name=waiting.name, timeout={"nanos": 1000000}).done
    assert waiting.name in [each.name for each in client.ListOperations(filter="done=false").operations]
    client.CancelOperation(name=waiting.name)
    cancelled = client.GetOperation(name=waiting.name)
    assert cancelled.error.code == grpc.StatusCode.CANCELLED.value[0]
    client.DeleteOperation(name=waiting.name)
    assert failure(client.GetOperation, name=waiting.name).info.reason == "OPERATION_NOT_FOUND"


def test_an_application_is_opened_by_an_operation_and_ended(client: Client) -> None:
    done = client.finish(client.OpenApplication(id="xterm"))
    opened = v1.OpenApplicationResponse()
    assert done.response.Unpack(opened), done.error
    assert client.GetApplication(name=opened.application.name) == opened.application
    client.DeleteApplication(name=opened.application.name, force=True)
    until(lambda: opened.application not in client.ListApplications().applications)
    missing = client.finish(client.OpenApplication(id="no-such-program"))
    assert "no-such-program" in missing.error.message


def test_a_tree_is_read_and_watched_until_the_client_cancels(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--entry", "--text=First")
    name = f"applications/{process.pid}"
    field = client.find(process.pid, role="textbox")
    tree = client.TraverseAccessibility(name=name, visible_only=True)
    assert tree.stats.count == len(tree.elements) > 3
    by_path = {tuple(each.path): each for each in tree.elements}
    assert all(path[:-1] in by_path for path in by_path if len(path) > 2)
    watch = client.WatchAccessibility(name=name, poll_interval=0.1)
    first = next(watch)
    assert len(first.added) >= tree.stats.count
    client.WriteElementValue(parent=name, element_id=field.element_id, value="changed")
    modified = [each for change in _until_modified(watch) for each in change.modified]
    assert "changed" in [each.new_element.text for each in modified]
    watch.cancel()
    with pytest.raises(grpc.RpcError) as ended:
        next(watch)
    assert ended.value.code() == grpc.StatusCode.CANCELLED


def _until_modified(watch: Any) -> list[Any]:
    for change in watch:
        if change.modified:
            return [change]
    raise AssertionError("the stream ended")


def test_elements_of_a_region_come_in_pages(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--question", "--text=Pages?")
    parent = f"applications/{process.pid}"
    client.find(process.pid, text="Yes")
    [window] = client.ListWindows(parent=parent).windows
    region = types.Region(
        x=window.bounds.x, y=window.bounds.y, width=window.bounds.width, height=window.bounds.height
    )
    whole = client.FindRegionElements(parent=parent, region=region).elements
    assert len(whole) > 3
    first = client.FindRegionElements(parent=parent, region=region, page_size=2)
    rest = client.FindRegionElements(parent=parent, region=region, page_token=first.next_page_token)
    shown = [*first.elements, *rest.elements]
    assert [each.attributes["reference"] for each in shown] == [
        each.attributes["reference"] for each in whole
    ]
    token = first.next_page_token
    for wrong in (token[:-4] + "AAAA", "x", token.swapcase()):
        answer = failure(client.FindRegionElements, parent=parent, region=region, page_token=wrong)
        assert (answer.code, answer.info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")
    other = failure(client.FindRegionElements, region=region, page_token=token)
    assert other.info.reason == "INVALID_PAGE_TOKEN"


def test_wrong_requests_are_refused_with_a_reason(client: Client) -> None:
    regex = types.ElementSelector(text_regex="(a+)+$")
    for call, fields, reason in (
        (client.GetWindow, {}, "MISSING_RESOURCE_NAME_FIELD"),
        (client.GetWindow, {"name": "windows/1"}, "INVALID_RESOURCE_NAME"),
        (client.FindElements, {"selector": regex}, "INVALID_REGEX"),
        (client.FindElements, {"selector": types.ElementSelector()}, "INVALID_FORMAT"),
        (client.FindElements, {}, "EMPTY_FIELD"),
        (client.ListWindows, {"page_size": -1}, "OUT_OF_RANGE"),
        (client.ListWindows, {"filter": "nonsense=1"}, "INVALID_FORMAT"),
        (client.CreateInput, {"input": v1.Input()}, "EMPTY_FIELD"),
        (client.ListOperations, {"filter": "name=x"}, "INVALID_FORMAT"),
    ):
        answer = failure(call, **fields)
        assert (answer.code, answer.info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason), fields


def test_every_method_is_offered_or_says_why_not(client: Client) -> None:
    refused = set()
    for method in service().methods:
        call = getattr(client, method.name)
        try:
            answer = call()
            if method.server_streaming:
                next(answer)
        except Failed as error:
            if error.code == grpc.StatusCode.UNIMPLEMENTED:
                refused.add(method.name)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNIMPLEMENTED:
                refused.add(method.name)
    assert refused == set(methods.MISSING)


def test_a_macro_is_stored_changed_and_run(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--entry", "--title=Macro", stdout=subprocess.PIPE)
    client.find(process.pid, role="textbox")
    typed = v1.MacroAction(input=v1.InputAction(type_text=v1.TextInput(text="${who}")))
    enter = v1.MacroAction(input=v1.InputAction(press_key=v1.KeyPress(key="return")))
    parameter = v1.MacroParameter(key="who", type=v1.MacroParameter.PARAMETER_TYPE_STRING, required=True)
    macro = v1.Macro(display_name="Greet", actions=[typed, enter], parameters=[parameter])
    made = client.CreateMacro(macro=macro, macro_id="greet")
    assert (made.name, made.actions, made.parameters) == ("macros/greet", macro.actions, macro.parameters)
    assert made.create_time.seconds > 0
    assert failure(client.CreateMacro, macro=macro, macro_id="greet").code == grpc.StatusCode.ALREADY_EXISTS
    renamed = client.UpdateMacro(
        macro=v1.Macro(name=made.name, display_name="Greet again"), update_mask={"paths": ["display_name"]}
    )
    assert (renamed.display_name, renamed.actions) == ("Greet again", macro.actions)
    started = client.ExecuteMacro(
        macro=made.name, parameter_values={"who": "Ada"}, application=f"applications/{process.pid}"
    )
    assert started.name.startswith("operations/executeMacro/")
    done = client.finish(started)
    outcome = v1.ExecuteMacroResponse()
    assert done.response.Unpack(outcome), done.error
    assert (outcome.success, outcome.actions_executed, len(outcome.log)) == (True, 2, 2)
    output, _ = process.communicate(timeout=20)
    assert output.decode().strip() == "Ada"
    assert [each.name for each in client.ListMacros().macros] == [made.name]
    client.DeleteMacro(name=made.name)
    assert failure(client.GetMacro, name=made.name).info.reason == "MACRO_NOT_FOUND"
    empty = failure(client.CreateMacro, macro=v1.Macro(display_name="Empty"))
    assert (empty.code, empty.info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FORMAT")


def test_a_session_keeps_its_transactions(client: Client) -> None:
    made = client.CreateSession(
        session=v1.Session(display_name="Test", metadata={"a": "b"}), session_id="one"
    )
    assert (made.name, made.state) == ("sessions/one", v1.Session.STATE_ACTIVE)
    begun = client.BeginTransaction(session=made.name)
    assert begun.session.state == v1.Session.STATE_IN_TRANSACTION
    assert failure(client.BeginTransaction, session=made.name).info.reason == "TRANSACTION_IN_PROGRESS"
    assert failure(client.DeleteSession, name=made.name).code == grpc.StatusCode.FAILED_PRECONDITION
    committed = client.CommitTransaction(name=made.name, transaction_id=begun.transaction_id)
    assert committed.state == v1.Transaction.STATE_COMMITTED
    again = {"name": made.name, "transaction_id": begun.transaction_id, "revision_id": "1"}
    assert failure(client.RollbackTransaction, **again).info.reason == "NO_TRANSACTION_IN_PROGRESS"
    assert client.GetSessionSnapshot(name=made.name).session.metadata == {"a": "b"}
    assert [each.name for each in client.ListSessions().sessions] == [made.name]
    client.DeleteSession(name=made.name)
    assert failure(client.GetSession, name=made.name).info.reason == "SESSION_NOT_FOUND"


def test_scripts_are_off_unless_allowed(client: Client) -> None:
    refused = failure(client.ExecuteShellCommand, command="true")
    assert (refused.code, refused.info.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
    assert "--allow-scripts" in refused.info.metadata["hint"]
    assert failure(client.ExecuteAppleScript, script="beep").code == grpc.StatusCode.UNIMPLEMENTED
    shell = v1.ScriptType.SCRIPT_TYPE_SHELL
    assert client.ValidateScript(type=shell, script="echo ok").valid
    assert not client.ValidateScript(type=shell, script="if true").valid
    assert not client.GetScriptingDictionaries(name="scriptingDictionaries").dictionaries


def test_the_pointer_is_where_it_was_moved(client: Client) -> None:
    to = types.Point(x=333, y=222)
    client.CreateInput(input=v1.Input(action=v1.InputAction(move_mouse=v1.MouseMove(position=to))))
    at = client.CaptureCursorPosition()
    assert (at.x, at.y, at.display) == (333, 222, client.ListDisplays().displays[0].name)


def test_an_observation_streams_what_changes(client: Client, programs: Programs) -> None:
    wanted = v1.Observation(type=v1.ObservationType.OBSERVATION_TYPE_WINDOW_CHANGES)
    created = client.CreateObservation(parent="applications/-", observation=wanted, observation_id="windows")
    assert created.name == "operations/observation/windows"
    made = v1.Observation()
    done = client.finish(created)
    assert done.response.Unpack(made), done.error
    assert (made.name, made.state) == ("applications/-/observations/windows", v1.Observation.STATE_ACTIVE)
    assert client.GetObservation(name=made.name).type == wanted.type
    assert made.name in [each.name for each in client.ListObservations().observations]
    events = client.StreamObservations(name=made.name)
    process = programs.start("xterm", "-T", "observed", "-e", "sleep", "60")
    for response in events:
        event = response.event
        if event.window_event.title == "observed":
            break
    assert event.window_event.event_type == v1.WindowEvent.WINDOW_EVENT_TYPE_CREATED
    assert (event.observation, event.sequence > 0) == (made.name, True)
    assert client.ListWindows(parent=f"applications/{process.pid}").windows
    assert client.CancelObservation(name=made.name).state == v1.Observation.STATE_CANCELLED
    assert list(events) is not None
    missing = failure(client.GetObservation, name="applications/-/observations/none")
    assert missing.info.reason == "OBSERVATION_NOT_FOUND"


def test_file_dialogs_are_filled_in(client: Client, programs: Programs, tmp_path: Path) -> None:
    target, existing = tmp_path / "saved.txt", tmp_path / "old.txt"
    existing.write_text("old")
    saving = programs.start("zenity", "--file-selection", "--save", stdout=subprocess.PIPE)
    application = f"applications/{saving.pid}"
    until(lambda: client.ListWindows(parent=application).windows)
    saved = client.AutomateSaveFileDialog(application=application, file_path=str(target), timeout=25)
    assert (saved.success, saved.saved_path) == (True, str(target)), saved.error
    assert saving.communicate(timeout=20)[0].decode().strip() == str(target)
    opening = programs.start("zenity", "--file-selection", stdout=subprocess.PIPE)
    application = f"applications/{opening.pid}"
    until(lambda: client.ListWindows(parent=application).windows)
    opened = client.AutomateOpenFileDialog(
        application=application, file_path="old.txt", default_directory=str(tmp_path), timeout=25
    )
    assert (opened.success, list(opened.selected_paths)) == (True, [str(existing)]), opened.error
    assert opening.communicate(timeout=20)[0].decode().strip() == str(existing)
    relative = failure(client.AutomateSaveFileDialog, application=application, file_path="x.txt")
    assert relative.info.reason == "INVALID_FORMAT"
    asking = programs.start(
        "zenity", "--file-selection", "--save", "--confirm-overwrite", stdout=subprocess.PIPE
    )
    again = {"application": f"applications/{asking.pid}", "file_path": str(existing), "timeout": 25.0}
    until(lambda: client.ListWindows(parent=again["application"]).windows)
    assert client.AutomateSaveFileDialog(**again).error == "The file exists already."
    assert client.AutomateSaveFileDialog(**again, confirm_overwrite=True).success
    assert asking.communicate(timeout=20)[0].decode().strip() == str(existing)


def test_what_two_clients_type_does_not_mix(client: Client, programs: Programs) -> None:
    process = programs.start("zenity", "--entry", "--title=Two", stdout=subprocess.PIPE)
    client.find(process.pid, role="textbox")
    texts = ["a" * 40, "b" * 40, "c" * 40]
    inputs = [v1.Input(action=v1.InputAction(type_text=v1.TextInput(text=text))) for text in texts]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parent = f"applications/{process.pid}"
        list(pool.map(lambda each: client.CreateInput(parent=parent, input=each), inputs))
    enter = v1.InputAction(press_key=v1.KeyPress(key="return"))
    client.CreateInput(parent=parent, input=v1.Input(action=enter))
    output, _ = process.communicate(timeout=20)
    typed = output.decode().strip()
    assert sorted(typed[start : start + 40] for start in (0, 40, 80)) == texts
