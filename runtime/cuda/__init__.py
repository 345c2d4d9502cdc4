"""Programs of CUDA kernels on GPUs: loaded by pycuda's driver API, on PyTorch's tensors, contexts and streams.

pycuda is imported when the first program is loaded. What is asked of it and of PyTorch about GPUs stands in two
protocols, `driver.Driver` and `torch_gpus.TorchGpus`: tests give others than the real ones.
"""
