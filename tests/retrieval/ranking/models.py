"""A tiny cross-encoder in the form of the big ones: the score of a pair is the sum of its words' weights."""

import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors


def make_cross_encoder(folder, weights, *, classes=1, types=True, inner_folder=""):
    """`weights` by word; other words weigh nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate([*marks, *weights])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.zeros((len(vocabulary), classes), np.float32)
    for word, weight in weights.items():
        table[vocabulary[word], -1] = weight
    place = folder / inner_folder
    place.mkdir(exist_ok=True)
    save(_graph(table, classes, types), str(place / "model.onnx"))
    return folder


def _graph(table, classes, types):
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", classes])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["weights"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["weights", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "second"], ["logits"], keepdims=0),
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "second"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def limit_length(folder, tokens):
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": tokens}), encoding="utf-8")
