"""Labels: results graded by a language model or by text similarity, and how well labels agree with human grades."""

from judged._exports import export_lazily

__getattr__, __dir__ = export_lazily(__name__, __file__)
