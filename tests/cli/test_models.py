"""`toolcrib models`: vendors, found servers, and the models of one vendor."""

from __future__ import annotations

from tests.cli.command_line import CommandLine
from tests.web.vendor import vendor


def test_the_models_of_an_address_are_listed_with_context_and_price(toolcrib: CommandLine) -> None:
    with vendor() as studio:
        studio.models = [{"id": "large", "max_model_len": 9000}, {"id": "text-embedding-3"}]
        toolcrib("settings", "set", "agent.endpoints.studio.url", studio.address)
        toolcrib("settings", "set", "agent.prices", '{"studio:": {"input": 0.5, "output": 2}}')
        done = toolcrib("models", "studio")
        listed = toolcrib("models", "studio", "--json").json

    assert done.out.splitlines()[1].split() == ["studio:large", "9,000", "$0.5", "$2"]
    assert "dollars for a million tokens" in done.err
    assert (listed["listed"], [one["name"] for one in listed["models"]]) == (True, ["large"])
    assert "studio" in toolcrib("models").out


def test_known_models_are_listed_without_a_key_and_an_unknown_vendor_is_an_error(
    toolcrib: CommandLine,
) -> None:
    done = toolcrib("models", "anthropic")
    assert "anthropic:claude-sonnet-5-5" in done.out
    assert "toolcrib secret set ANTHROPIC_API_KEY" in done.err
    assert toolcrib("models", "antropic", "--json").error["kind"] == "no_model"


def test_a_server_on_this_machine_is_told_with_the_command_that_adds_it(toolcrib: CommandLine) -> None:
    with vendor() as studio:
        studio.models = [{"id": "large", "owned_by": "vllm"}]
        done = toolcrib("models", TOOLCRIB_LOCAL_MODELS=studio.address)
        found = toolcrib("models", "--json", TOOLCRIB_LOCAL_MODELS=studio.address).json["local"]

    assert "Found vLLM at" in done.err
    assert f"toolcrib settings set agent.endpoints.vllm.url {studio.address}" in done.err
    assert [one["name"] for one in found] == ["vllm"]
